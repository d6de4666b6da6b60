"""Slurm on this machine alone, for a developer: a real cluster of one node, without systemd, on loopback only.

    python scripts/one_node_slurm.py start DIR      starts it; prints the line that makes sbatch and squeue use it
    python scripts/one_node_slurm.py stop DIR       ends it, with all its jobs; DIR keeps the logs
    python scripts/one_node_slurm.py crash DIR      the node loses power: its jobs and its daemon are gone at once
    python scripts/one_node_slurm.py stop-node DIR  its daemon ends, its jobs go on
    python scripts/one_node_slurm.py start-node DIR

All that the daemons write is in DIR, whose path has to be short (a socket lies in it). The node says that it has two
processors more than it may have, and one GPU, which is none: what a job asks for is counted, not checked.
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

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")
LONGEST_PATH = 80  # bytes; a socket's may have 107
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
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions: dict[str, Callable[[Path], None]] = {
        "start": start,
        "stop": stop,
        "crash": crash,
        "stop-node": stop_node,
        "start-node": start_node,
    }
    parser.add_argument("action", choices=actions)
    parser.add_argument("directory", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    lacking = missing()
    if lacking:
        sys.exit(f"one_node_slurm: {lacking}")
    actions[arguments.action](arguments.directory.resolve())


def missing() -> str:
    """What keeps it from running here, in one line; nothing if nothing does."""
    absent = [program for program in PROGRAMS if shutil.which(program, path=search_path()) is None]
    if absent:
        return f"{', '.join(absent)}: not installed (Debian: apt-get install slurm-wlm munge)"
    if os.getuid() != 0:
        return "only root can run it: Slurm's daemons start jobs as other users"
    return ""


def start(folder: Path) -> None:
    """Start all daemons, and wait until the node takes jobs."""
    if len(os.fsencode(folder)) > LONGEST_PATH:
        sys.exit(f"one_node_slurm: {folder}: its path is longer than {LONGEST_PATH} bytes")
    if running(folder, "slurmctld"):
        sys.exit(f"one_node_slurm: {folder}: it runs already")
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # munge refuses a folder that others may write to
    for name in ("state", SPOOL):
        (folder / name).mkdir(exist_ok=True)
    key = folder / "munge.key"
    if not key.exists():
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
    ctld_port, slurmd_port = free_ports(2)
    configuration = SLURM_CONF.format(
        folder=folder,
        host=host(),
        ctld_port=ctld_port,
        slurmd_port=slurmd_port,
        cpus=2 + (os.cpu_count() or 1),
    )
    (folder / "slurm.conf").write_text(configuration)
    (folder / "gres.conf").write_text("Name=gpu File=/dev/null\n")
    (folder / "cgroup.conf").write_text(f"CgroupPlugin={'disabled' if version(folder) >= 23 else 'cgroup/v1'}\n")
    try:
        daemon(folder, "munged", f"--key-file={key}", f"--socket={folder}/munge.socket", *munge_files(folder))
        daemon(folder, "slurmctld", "-c", "-f", f"{folder}/slurm.conf")
        start_node(folder)
    except BaseException:
        stop(folder)
        raise
    print(f"export SLURM_CONF={folder}/slurm.conf")


def start_node(folder: Path) -> None:
    """Start the node's daemon, and wait until the node takes jobs."""
    daemon(folder, "slurmd", "-f", f"{folder}/slurm.conf")
    wait_for(folder, lambda: told(folder, "sinfo", "--noheader", "--format=%T") in ("idle", "mixed", "allocated"))


def stop_node(folder: Path) -> None:
    """End the node's daemon; its jobs go on."""
    end(folder, "slurmd", signal.SIGTERM)


def crash(folder: Path) -> None:
    """End the node's daemon and its jobs, as a loss of power does, and let the controller notice at once."""
    end(folder, "slurmd", signal.SIGKILL)
    end_jobs(folder)
    told(folder, "scontrol", "update", f"nodename={host()}", "state=down", "reason=lost")


def stop(folder: Path) -> None:
    """End everything that runs out of this folder."""
    for name in ("slurmctld", "slurmd", "munged"):
        end(folder, name, signal.SIGTERM if name != "slurmd" else signal.SIGKILL)
    end_jobs(folder)


def daemon(folder: Path, name: str, *arguments: str) -> None:
    """Start a daemon; it puts itself into the background. Ends this script where it does not start."""
    program = shutil.which(name, path=search_path()) or name
    done = subprocess.run([program, *arguments], env=environment(folder), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"one_node_slurm: {name} does not start: {(done.stderr or done.stdout).strip()}")
    wait_for(folder, lambda: running(folder, name) is not None)


def munge_files(folder: Path) -> tuple[str, ...]:
    """Where munge keeps what else it writes."""
    return f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"


def end(folder: Path, name: str, number: signal.Signals) -> None:
    """Send a signal to a daemon of this folder, and wait until it is gone; by force after a while."""
    for kind in (number, signal.SIGKILL):
        until = time.monotonic() + 20
        pid = running(folder, name)
        if pid is not None:
            os.kill(pid, kind)
        while running(folder, name) is not None and time.monotonic() < until:
            time.sleep(0.05)
    (folder / f"{name}.pid").unlink(missing_ok=True)


def end_jobs(folder: Path) -> None:
    """Kill the jobs that this folder's slurmd has started, and all that they have started."""
    while jobs := [pid for pid in processes() if belongs(pid, folder)]:
        for pid in jobs:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def belongs(pid: int, folder: Path) -> bool:
    """Whether a process that lives has this folder's configuration in its environment, and is part of a job."""
    with suppress(OSError):
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        step = b"slurmstepd" in Path(f"/proc/{pid}/cmdline").read_bytes()
        here = b"SLURM_CONF=" + os.fsencode(folder / "slurm.conf") in variables
        return lives(pid) and here and (step or any(variable.startswith(b"SLURM_JOB_ID=") for variable in variables))
    return False


def lives(pid: int) -> bool:
    """Whether a process still runs. Raises OSError where there is none."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def processes() -> list[int]:
    """All processes of this machine."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def running(folder: Path, name: str) -> int | None:
    """The process of a daemon, if it runs."""
    with suppress(OSError, ValueError):
        pid = int((folder / f"{name}.pid").read_text())
        if lives(pid) and Path(f"/proc/{pid}/comm").read_text().strip() == name:
            return pid
    return None


def wait_for(folder: Path, ready: Callable[[], bool]) -> None:
    """Wait until something is so. Ends this script where it does not become so."""
    until = time.monotonic() + START_SECONDS
    while not ready():
        if time.monotonic() > until:
            sys.exit(f"one_node_slurm: it does not start; look at {folder}/*.log")
        time.sleep(0.1)


def version(folder: Path) -> int:
    """Slurm's, without what follows the first point."""
    return int(told(folder, "slurmd", "-V").split()[-1].partition(".")[0])


def told(folder: Path, *command: str) -> str:
    """What a Slurm command prints."""
    return subprocess.run(command, env=environment(folder), capture_output=True, text=True).stdout.strip()


def environment(folder: Path) -> dict[str, str]:
    """What the daemons and commands need."""
    return {"PATH": search_path(), "LANG": "C.UTF-8", "SLURM_CONF": f"{folder}/slurm.conf"}


def search_path() -> str:
    """Daemons are where an ordinary path does not lead."""
    return f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"


def host() -> str:
    """This machine, as slurmd calls it."""
    return socket.gethostname().partition(".")[0]


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


if __name__ == "__main__":
    main()
