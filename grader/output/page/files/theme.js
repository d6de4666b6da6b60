"use strict";
{
  // Light, dark, or the system setting, which is stored if the browser allows it.
  const order = ["", "light", "dark"];
  const root = document.documentElement;
  const show = (theme) => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  let theme = "";
  try {
    const kept = localStorage.getItem("theme") ?? "";
    if (order.includes(kept)) theme = kept;
  } catch {}
  show(theme);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const label = () => { button.textContent = button.dataset[theme || "system"]; };
    button.hidden = false;
    label();
    button.addEventListener("click", () => {
      theme = order[(order.indexOf(theme) + 1) % order.length];
      show(theme);
      label();
      try { localStorage.setItem("theme", theme); } catch {}
    });
  });
}
