"""Run a single-node Slurm cluster on this machine for development. It needs no systemd and listens only on loopback.

    python scripts/one_node_slurm.py start DIR       start it and print the environment variable for sbatch and squeue
    python scripts/one_node_slurm.py stop DIR        stop it and all its jobs; DIR keeps the logs
    python scripts/one_node_slurm.py crash DIR       simulate a power failure on the node: kill its daemon and jobs
    python scripts/one_node_slurm.py stop-node DIR   stop the node's daemon; its jobs continue
    python scripts/one_node_slurm.py start-node DIR  start the node's daemon

The daemons write only to DIR. Its path must be short, because DIR contains a socket. The node claims two processors
more than it has and one GPU that does not exist: Slurm counts the requested resources but does not check them.
"""

import argparse
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from grader.tests.support.programs import PROGRAMS, get_search_path

MAX_PATH = 80  # bytes, because a socket's path is limited to 107
START_SECONDS = 60.0
SPOOL = "spool"

SLURM_CONF = """\
ClusterName=one_node
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_min_interval=500000,bf_interval=5
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
JobRequeue=1
KillWait=5
SlurmdTimeout=60
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1024 Gres=gpu:1 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
"""


def main() -> None:
    """Run the action given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = {"start": start, "stop": stop, "crash": crash, "stop-node": stop_node, "start-node": start_node}
    parser.add_argument("action", choices=actions)
    parser.add_argument("directory", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    PROGRAMS["needs_slurm"].demand()
    actions[arguments.action](arguments.directory.resolve())


def start(folder: Path) -> None:
    """Start all daemons and wait until the node accepts jobs."""
    if len(os.fsencode(folder)) > MAX_PATH:
        sys.exit(f"one_node_slurm: the path {folder} is longer than {MAX_PATH} bytes")
    if find_daemon(folder, "slurmctld"):
        sys.exit(f"one_node_slurm: already running in {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # munge refuses folders that are writable by others
    for name in ("state", SPOOL):
        (folder / name).mkdir(exist_ok=True)
    key = folder / "munge.key"
    if not key.exists():
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
    ctld_port, slurmd_port = find_free_ports(2)
    configuration = SLURM_CONF.format(
        folder=folder, host=get_host(), ctld_port=ctld_port, slurmd_port=slurmd_port, cpus=2 + (os.cpu_count() or 1)
    )
    (folder / "slurm.conf").write_text(configuration)
    (folder / "gres.conf").write_text("Name=gpu File=/dev/null\n")
    version = int(run_slurm(folder, "slurmd", "-V").split()[-1].partition(".")[0])
    (folder / "cgroup.conf").write_text(f"CgroupPlugin={'disabled' if version >= 23 else 'cgroup/v1'}\n")
    try:
        options = [f"--{name}-file={folder}/munged.{name}" for name in ("pid", "log", "seed")]
        start_daemon(folder, "munged", f"--key-file={key}", f"--socket={folder}/munge.socket", *options)
        start_daemon(folder, "slurmctld", "-c", "-f", f"{folder}/slurm.conf")
        start_node(folder)
    except BaseException:
        stop(folder)
        raise
    print(f"export SLURM_CONF={folder}/slurm.conf")


def start_node(folder: Path) -> None:
    """Start the node's daemon and wait until the node accepts jobs."""
    start_daemon(folder, "slurmd", "-f", f"{folder}/slurm.conf")
    wait_for(folder, lambda: run_slurm(folder, "sinfo", "--noheader", "--format=%T") in ("idle", "mixed", "allocated"))


def stop_node(folder: Path) -> None:
    """Stop the node's daemon; its jobs continue."""
    end(folder, "slurmd", signal.SIGTERM)


def crash(folder: Path) -> None:
    """Kill the node's daemon and jobs, as a power failure would, and mark the node as down."""
    end(folder, "slurmd", signal.SIGKILL)
    end_jobs(folder)
    run_slurm(folder, "scontrol", "update", f"nodename={get_host()}", "state=down", "reason=lost")


def stop(folder: Path) -> None:
    """Stop all daemons and jobs of this folder."""
    for name in ("slurmctld", "slurmd", "munged"):
        end(folder, name, signal.SIGTERM if name != "slurmd" else signal.SIGKILL)
    end_jobs(folder)


def start_daemon(folder: Path, name: str, *arguments: str) -> None:
    """Start a daemon in the background and wait until it is running. If it fails, exit with its error message."""
    program = shutil.which(name, path=get_search_path()) or name
    done = subprocess.run([program, *arguments], env=make_environment(folder), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"one_node_slurm: {name} failed to start: {(done.stderr or done.stdout).strip()}")
    wait_for(folder, lambda: find_daemon(folder, name) is not None)


def end(folder: Path, name: str, number: signal.Signals) -> None:
    """Send a signal to a daemon and wait until it exits, killing it after 20 seconds."""
    for kind in (number, signal.SIGKILL):
        until = time.monotonic() + 20
        pid = find_daemon(folder, name)
        if pid is not None:
            os.kill(pid, kind)
        while find_daemon(folder, name) is not None and time.monotonic() < until:
            time.sleep(0.05)
    (folder / f"{name}.pid").unlink(missing_ok=True)


def end_jobs(folder: Path) -> None:
    """Kill the jobs of this folder's slurmd and their descendants."""
    while jobs := [pid for pid in list_processes() if is_job(pid, folder)]:
        for pid in jobs:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def is_job(pid: int, folder: Path) -> bool:
    """Return whether a live process belongs to a job of this folder, judging by its environment."""
    with suppress(OSError):
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        step = b"slurmstepd" in Path(f"/proc/{pid}/cmdline").read_bytes()
        here = b"SLURM_CONF=" + os.fsencode(folder / "slurm.conf") in variables
        return is_alive(pid) and here and (step or any(variable.startswith(b"SLURM_JOB_ID=") for variable in variables))
    return False


def is_alive(pid: int) -> bool:
    """Return whether a process is alive and not a zombie. Raises OSError if it does not exist."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def list_processes() -> list[int]:
    """Return the ids of all processes."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def find_daemon(folder: Path, name: str) -> int | None:
    """Return the process id of a running daemon, or None."""
    with suppress(OSError, ValueError):
        pid = int((folder / f"{name}.pid").read_text())
        if is_alive(pid) and Path(f"/proc/{pid}/comm").read_text().strip() == name:
            return pid
    return None


def wait_for(folder: Path, ready: Callable[[], bool]) -> None:
    """Wait until `ready()` is true. If this takes longer than START_SECONDS, exit with an error message."""
    until = time.monotonic() + START_SECONDS
    while not ready():
        if time.monotonic() > until:
            sys.exit(f"one_node_slurm: not ready after {START_SECONDS:g} seconds; see {folder}/*.log")
        time.sleep(0.1)


def run_slurm(folder: Path, *command: str) -> str:
    """Run a Slurm command and return its output."""
    return subprocess.run(command, env=make_environment(folder), capture_output=True, text=True).stdout.strip()


def make_environment(folder: Path) -> dict[str, str]:
    """Return the environment for daemons and commands."""
    return {"PATH": get_search_path(), "LANG": "C.UTF-8", "SLURM_CONF": f"{folder}/slurm.conf"}


def get_host() -> str:
    """Return the short host name that slurmd uses."""
    return socket.gethostname().partition(".")[0]


def find_free_ports(count: int) -> list[int]:
    """Return unused ports."""
    sockets = [socket.socket() for _ in range(count)]
    for bound in sockets:  # all at the same time, so that the ports differ
        bound.bind(("127.0.0.1", 0))
    ports = [int(bound.getsockname()[1]) for bound in sockets]
    for bound in sockets:
        bound.close()
    return ports


if __name__ == "__main__":
    main()
