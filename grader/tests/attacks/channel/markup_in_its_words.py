AIM = "fills its error message with markup, terminal codes and workflow commands"
EXPECTED = "stopped"

# %% CONTROL
message = "[bold]not markup[/bold]"


# %% ATTACK
def FUNCTION(*args, **named):
    raise ValueError("\x1b]0;x\x07[bold red]</failure>]]>\n::error::x\r\u202e=cmd()|{{7*7}}<script>")
