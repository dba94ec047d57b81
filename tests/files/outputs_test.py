#!/usr/bin/python3
"""Kinds of files as outputs of `run -o`, `merge -o`, `sweep`, `sweep --resume` and `--timeline`: links,
devices, pipes, modes, full and read-only disks, locks, and what a killed process leaves.

usage: outputs_test.py STEPSIM [WORD]
"""
import ctypes
import ctypes.util
import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import Skipped, SCENARIO, check, run_cases, wait_for  # noqa: E402

NOBODY = 65534
SLOW = dict(SCENARIO, method="events", training={"iterations": 9})


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def as_nobody(place):
    """Options of a command without privileges."""
    if os.geteuid() != 0:
        return {}
    options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        subprocess.run([place.stepsim, "--version"], capture_output=True, check=True, **options)
    except (OSError, subprocess.SubprocessError):
        raise Skipped("the program cannot be run as another user") from None
    return options


class Mounted:
    """A file system of its own below the folder; needs privileges."""

    def __init__(self, folder, options):
        self.folder = folder
        folder.mkdir()
        libc = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
        self.umount = libc.umount2
        if os.geteuid() != 0 or libc.mount(b"tmpfs", str(folder).encode(), b"tmpfs", 0, options) != 0:
            raise Skipped("no privilege to mount a file system")
        self.remount = lambda flags: libc.mount(b"tmpfs", str(folder).encode(), b"tmpfs", 32 | flags, options)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.umount(str(self.folder).encode(), 2)


def device(place, name, minor):
    """A device node of our own: 3 is null, 7 is full."""
    path = place.path(name)
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        raise Skipped("no privilege to make a device") from None
    return path


def shard(place):
    """A finished sweep to merge, and its bytes."""
    place.sweep("whole.jsonl")
    return place.path("whole.jsonl").read_bytes()


def as_failed(content):
    """As if every point had failed: --resume writes all records again."""
    return content.replace(b'"status":"ok"', b'"status":"error"')


def writers(place, target, whole):
    """Each way to write `target`, with what must be in it then."""
    result = place.run("run", "s.json", "--json", code=0).stdout
    without_meta = json.loads(result)
    without_meta.pop("meta")

    def is_result(data):
        tree = json.loads(data)
        tree.pop("meta")
        return tree == without_meta

    return [
        (["run", "s.json", "-o", target, "--json", "--quiet", "--force"], is_result),
        (["merge", "whole.jsonl", "-o", target, "--force"], lambda data: data == whole),
        (["run", "s.json", "--timeline", target, "--quiet", "--force"],
         lambda data: len(json.loads(data)["traceEvents"]) > 0),
        (["sweep", "s.json", "--over", "/cluster/nodes=2,3,4,5", "-o", target, "--quiet", "--force"],
         lambda data: data == whole),
    ]


def resume(place, target, code=0):
    return place.sweep(target, "--resume", code=code)


def absent_and_regular(place):
    """absent and regular files: the mode of a file is kept, a new one follows the umask"""
    whole = shard(place)
    for command, good in writers(place, "out.json", whole):
        # `sweep` writes JSON Lines
        target = "out.jsonl" if command[0] in ("sweep", "merge") else "out.json"
        command = [target if word == "out.json" else word for word in command]
        path = place.path(target)
        for mode in (None, 0o600, 0o640, 0o664):
            path.unlink(missing_ok=True)
            if mode is not None:
                path.write_bytes(b"old")
                path.chmod(mode)
            place.run(*command, code=0, umask=0o027)
            check(good(path.read_bytes()), command, "wrote something else")
            check(mode_of(path) == (0o640 if mode is None else mode), command, oct(mode_of(path)))
        path.unlink()
    path = place.path("again.jsonl")
    for mode in (0o600, 0o640):
        path.write_bytes(as_failed(whole))
        path.chmod(mode)
        resume(place, path.name)
        check(path.read_bytes() == whole and mode_of(path) == mode, "--resume changed the mode")
    check(not [name for name in place.names() if "unfinished" in name], place.names())


def links(place):
    """links: a link, a chain of links and a link to nothing stay, the file behind is written"""
    whole = shard(place)
    folder = place.path("behind")
    folder.mkdir()
    real = folder / "real"
    for command, good in writers(place, "link.jsonl", whole):
        if command[0] == "run":
            command = ["link.json" if word == "link.jsonl" else word for word in command]
        link = place.path(next(word for word in command if word.startswith("link.")))
        for before in (b"old", None):
            for chain in (False, True):
                for path in (link, real, folder / "next"):
                    path.unlink(missing_ok=True)
                if before is not None:
                    real.write_bytes(before)
                link.symlink_to("behind/next" if chain else "behind/real")
                if chain:
                    (folder / "next").symlink_to("real")
                place.run(*command, code=0)
                check(link.is_symlink() and not real.is_symlink(), command, "replaced the link")
                check(good(real.read_bytes()), command, "wrote something else")
        link.unlink()
    link.symlink_to("behind/real")
    real.write_bytes(as_failed(whole))
    resume(place, link.name)
    check(link.is_symlink() and real.read_bytes() == whole, "--resume replaced the link")
    check(sorted(path.name for path in folder.iterdir()) == ["next", "real"], "files left behind")


def circles_and_folders(place):
    """circles of links, folders, sockets and missing folders are errors and stay"""
    shard(place)
    place.path("a").symlink_to("b")
    place.path("b").symlink_to("a")
    place.path("folder").mkdir()
    place.path("linked").symlink_to("folder")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(place.path("socket")))
        before = place.names()
        for target, reason in (("a", "Too many levels of symbolic links"),
                               ("folder", "Is a directory"), ("linked", "Is a directory"),
                               ("socket", "No such device or address"),
                               ("none/out", "there is no folder none")):
            says = f"{target}: write failed: {reason}"
            place.refused("run", "s.json", "-o", target, "--quiet", code=1, says=says)
            place.refused("merge", "whole.jsonl", "-o", target, code=1, says=says)
            for flag in ("--force", "--resume"):
                place.refused("sweep", "s.json", "--over", "/cluster/nodes=2,3", "-o", target, flag,
                              "--format", "jsonl", "--quiet", code=1, says=says)
        check(place.names() == before, place.names())


def hard_links(place):
    """hard links: a result takes one name, a sweep grows in place"""
    whole = shard(place)
    place.write("one", "old")
    os.link(place.path("one"), place.path("two"))
    place.run("merge", "whole.jsonl", "-o", "one", "--force", code=0)
    check(place.path("two").read_bytes() == b"old" and place.path("one").read_bytes() == whole)
    cut = whole[:whole.index(b"\n", len(whole) // 2) + 1]
    place.write("one.jsonl", cut)
    os.link(place.path("one.jsonl"), place.path("two.jsonl"))
    resume(place, "one.jsonl")
    check(place.path("two.jsonl").read_bytes() == whole, "the sweep left its file")


def pipes(place):
    """pipes: a FIFO gets the content and stays"""
    whole = shard(place)
    os.mkfifo(place.path("fifo"))
    commands = writers(place, "fifo", whole)
    commands.append((["sweep", "s.json", "--over", "/cluster/nodes=2,3,4,5", "-o", "fifo", "--quiet",
                      "--resume", "--format", "jsonl"], lambda data: data == whole))
    for command, good in commands:
        if command[0] == "sweep" and "--format" not in command:
            command = command + ["--format", "jsonl"]
        got = []
        reader = threading.Thread(target=lambda: got.append(place.path("fifo").read_bytes()))
        reader.start()
        place.run(*command, code=0)
        reader.join(30)
        check(got and good(got[0]), command, "wrote", got)
        check(stat.S_ISFIFO(place.path("fifo").stat().st_mode), command, "replaced the FIFO")
    # A merge that is not complete gives a reader nothing.
    place.write("part.jsonl", whole[:whole.rindex(b"\n", 0, -1) + 1])
    done = place.run("merge", "part.jsonl", "-o", "/dev/stdout", code=4)
    check(done.stdout == b"", done.stdout)


def devices(place):
    """devices: null takes everything, full is an error, both stay"""
    whole = shard(place)
    null = device(place, "null", 3)
    full = device(place, "full", 7)
    place.path("null.jsonl").symlink_to("null")
    for target, code in (("null", 0), ("null.jsonl", 0), ("full", 1)):
        for command, _ in writers(place, target, whole):
            if command[0] == "sweep" and not target.endswith(".jsonl"):
                command = command + ["--format", "jsonl"]
            done = place.run(*command, code=code)
            check(code == 0 or b"full: write failed: No space left on device" in done.stderr, done)
        if target.endswith(".jsonl"):
            resume(place, target)
    for path, minor in ((null, 3), (full, 7)):
        check(stat.S_ISCHR(path.stat().st_mode) and path.stat().st_rdev == os.makedev(1, minor), path, "was replaced")
    check(place.path("null.jsonl").is_symlink(), "the link was replaced")


def standard_output(place):
    """standard output by name: /dev/stdout and /dev/fd/1 go on where it stands"""
    whole = shard(place)
    for target in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        check(place.run("merge", "whole.jsonl", "-o", target, code=0).stdout == whole, target)
        with open(place.path("log"), "wb") as log:
            log.write(b"before\n")
            log.flush()
            place.run("merge", "whole.jsonl", "-o", target, code=0, stdout=log, stderr=subprocess.PIPE)
        check(place.path("log").read_bytes() == b"before\n" + whole, target, "began anew")
        place.path("log").unlink()


def long_names(place):
    """names of 255 bytes, with line breaks and escape sequences are written"""
    whole = shard(place)
    for name in ("n" * 249 + ".jsonl", "a\nb\x1b[31m.jsonl", "\xff.jsonl", " .jsonl", "-x.jsonl"):
        target = name if name[0] != "-" else "./" + name
        place.run("merge", "whole.jsonl", "-o", target, code=0)
        check(place.path(name).read_bytes() == whole, name)
        place.path(name).write_bytes(as_failed(whole))
        resume(place, target)
        check(place.path(name).read_bytes() == whole, name)
        place.path(name).unlink()
    check(place.names() == ["s.json", "whole.jsonl"], place.names())


def compressed(place):
    """a name that ends in .gz is compressed by run and merge"""
    whole = shard(place)
    place.run("merge", "whole.jsonl", "-o", "out.jsonl.gz", code=0)
    unpacked = subprocess.run(["gzip", "-dc", str(place.path("out.jsonl.gz"))], check=True, capture_output=True).stdout
    check(unpacked == whole)


def read_only_files(place):
    """read-only files and folders are not replaced"""
    whole = shard(place)
    options = as_nobody(place)
    place.write("fixed.json", "old")
    place.path("fixed.json").chmod(0o444)
    place.write("fixed.jsonl", as_failed(whole))
    place.path("fixed.jsonl").chmod(0o444)
    closed = place.path("closed")
    closed.mkdir()
    closed.chmod(0o555)
    place.folder.chmod(0o777)
    for target in ("fixed.json", "closed/new.json"):
        place.refused("run", "s.json", "-o", target, "--quiet", code=1,
                      says=f"{target}: write failed: Permission denied", **options)
    for target in ("fixed.jsonl", "closed/new.jsonl"):
        for command in (["merge", "whole.jsonl", "-o", target],
                        ["sweep", "s.json", "--over", "/cluster/nodes=2,3,4,5", "-o", target,
                         "--quiet", "--resume"]):
            place.refused(*command, code=1, says=f"{target}: write failed: Permission denied", **options)
    check(place.path("fixed.json").read_bytes() == b"old")
    check(place.path("fixed.jsonl").read_bytes() == as_failed(whole))
    check(list(closed.iterdir()) == [])


def full_disk(place):
    """a full disk: the old content stays, nothing is left behind, a sweep can be resumed"""
    whole = shard(place)
    pages = -(-len(whole) // 4096)
    with Mounted(place.path("disk"), b"size=%dk" % (4 * (pages + 6))) as disk:
        folder = disk.folder
        (folder / "old.jsonl").write_bytes(as_failed(whole))
        (folder / "ballast").write_bytes(b"x" * (4096 * 6))
        before = sorted(folder.iterdir())
        for command in (["merge", "whole.jsonl", "-o", "disk/old.jsonl"],
                        ["sweep", "s.json", "--over", "/cluster/nodes=2,3,4,5", "-o",
                         "disk/old.jsonl", "--quiet", "--resume"],
                        ["merge", "whole.jsonl", "-o", "disk/new.jsonl"]):
            place.refused(*command, code=1, says="write failed: No space left on device")
            check(sorted(folder.iterdir()) == before, command, sorted(folder.iterdir()))
            check((folder / "old.jsonl").read_bytes() == as_failed(whole), command)
        # A sweep that grows keeps what fits.
        (folder / "old.jsonl").unlink()
        place.refused("sweep", "s.json", "--over", "/cluster/nodes=2:60:+1", "-o", "disk/new.jsonl",
                      "--quiet", code=1, says=["No space left on device (points 0..", "are safe)"])
        (folder / "ballast").unlink()
        shutil.move(folder / "new.jsonl", place.path("moved.jsonl"))
        place.sweep("moved.jsonl", "--resume", nodes="2:60:+1")
        place.sweep("fresh.jsonl", nodes="2:60:+1")
        check(place.path("moved.jsonl").read_bytes() == place.path("fresh.jsonl").read_bytes())


def read_only_disk(place):
    """a read-only disk is an error of one line"""
    whole = shard(place)
    with Mounted(place.path("disk"), b"size=64k") as disk:
        (disk.folder / "old.jsonl").write_bytes(as_failed(whole))
        check(disk.remount(1) == 0, "cannot be made read-only")
        for target in ("disk/old.jsonl", "disk/new.jsonl"):
            says = f"{target}: write failed: Read-only file system"
            place.refused("merge", "whole.jsonl", "-o", target, code=1, says=says)
            place.refused("sweep", "s.json", "--over", "/cluster/nodes=2,3,4,5", "-o", target,
                          "--quiet", "--resume", code=1, says=says)
        check((disk.folder / "old.jsonl").read_bytes() == as_failed(whole))


def inputs(place):
    """an output that is an input is refused, under whatever name"""
    whole = shard(place)
    os.link(place.path("s.json"), place.path("hard.json"))
    place.path("soft.json").symlink_to("s.json")
    scenario = place.path("s.json").read_bytes()
    for target in ("s.json", "./s.json", "hard.json", "soft.json", str(place.path("s.json"))):
        for command in (["run", "s.json", "-o", target], ["run", "s.json", "--timeline", target],
                        ["check", "s.json", "-o", target], ["compare", "s.json", "-o", target],
                        ["run", "s.json", "-o", "r.json", "--timeline", target]):
            place.refused(*command, code=2, says=[target, "is an input too"])
    place.refused("merge", "whole.jsonl", "-o", "whole.jsonl", code=2, says="is an input too")
    place.refused("run", "s.json", "-o", "r.json", "--timeline", "r.json", code=2, says="same file")
    trace = (place.path("t.json"))
    shutil.copy(pathlib.Path(__file__).resolve().parents[2] / "traces/googlenet.k80.json", trace)
    content = trace.read_bytes()
    named = dict(SCENARIO, workload={"trace": "t.json"})
    place.write("named.json", named)
    place.write("named.sweep.json", {"kind": "sweep", "scenario": "named.json", "axes": [
        {"field": "/cluster/nodes", "values": [2, 3]}]})
    place.refused("run", "named.json", "-o", "t.json", code=2, says=["t.json", "is an input too", "/workload/trace"])
    place.refused("run", "s.json", "--set", '/workload={"trace":"t.json"}', "-o", "t.json", code=2,
                  says="is an input too")
    place.refused("sweep", "named.sweep.json", "-o", "named.json", "--format", "jsonl", "--force",
                  code=2, says="named.json")
    place.refused("sweep", "named.sweep.json", "-o", "t.json", "--format", "jsonl", "--force", code=2, says="t.json")
    check(trace.read_bytes() == content and place.path("s.json").read_bytes() == scenario)
    check(place.path("whole.jsonl").read_bytes() == whole)


def locks(place):
    """two writers of one sweep: the second says who the first is and changes nothing"""
    place.write("slow.json", SLOW)
    flags = ["sweep", "slow.json", "--over", "/cluster/nodes=2:3000:+1", "-o", "o.jsonl", "--quiet", "--jobs", "1"]
    output = place.path("o.jsonl")
    first = place.start_until(signal.SIGSTOP, 4000, "o.jsonl", *flags)
    try:
        who = f"o.jsonl: is being written by process {first.pid} ("
        place.refused(*flags, "--resume", code=1, says=[who, "sweep slow.json"])
        place.refused(*flags, "--force", code=1, says=who)
        place.refused("run", "s.json", "-o", "o.jsonl", "--json", "--force", code=1, says=who)
        place.write("copy.jsonl", b"".join(output.read_bytes().splitlines(True)[:2]))
        place.refused("run", "s.json", "--timeline", "o.jsonl", code=1, says=who)
    finally:
        first.send_signal(signal.SIGINT)
        first.send_signal(signal.SIGCONT)
        first.communicate()
    check(first.returncode == 130, first.returncode)
    records = output.read_bytes().splitlines()
    check([json.loads(line)["point"] for line in records[1:]] == list(range(len(records) - 1)),
          "records are missing or doubled")
    # The lock ends with the process, however it ends.
    place.start_until(signal.SIGKILL, 1, "o.jsonl", *flags, "--resume")
    third = place.start_until(signal.SIGINT, 1000, "o.jsonl", *flags, "--resume")
    third.communicate()
    check(third.returncode == 130 and place.names() == ["copy.jsonl", "o.jsonl", "s.json", "slow.json"], place.names())


def two_at_once(place):
    """sweeps and merges that start at the same moment leave one whole file"""
    whole = shard(place)
    for _ in range(5):
        place.path("o.jsonl").unlink(missing_ok=True)
        processes = [place.start("sweep", "s.json", "--over", "/cluster/nodes=2,3,4,5", "-o",
                                 "o.jsonl", "--quiet", flag) for flag in ("--resume", "--force") * 2]
        codes = []
        for process in processes:
            error = process.communicate(timeout=600)[1].decode()
            codes.append(process.returncode)
            check(process.returncode == 0 or "is being written by process" in error, error)
        check(0 in codes and place.path("o.jsonl").read_bytes() == whole, codes)
        processes = [place.start("merge", "whole.jsonl", "-o", "m.jsonl") for _ in range(4)]
        check([process.wait(60) for process in processes] == [0] * 4, "a merge failed")
        for process in processes:
            process.stderr.close()
        check(place.path("m.jsonl").read_bytes() == whole)
    check(place.names() == ["m.jsonl", "o.jsonl", "s.json", "whole.jsonl"], place.names())


def killed(place):
    """a killed process leaves nothing for ever: the next writer removes its temporary file"""
    place.write("slow.json", SLOW)
    flags = ["sweep", "slow.json", "--over", "/cluster/nodes=2:60:+1", "-o", "o.jsonl", "--quiet", "--jobs", "1"]
    place.run(*flags, code=0)
    whole = place.path("o.jsonl").read_bytes()
    place.write("o.jsonl", as_failed(whole))
    place.start_until(signal.SIGKILL, 1, "o.jsonl.unfinished", *flags, "--resume")
    check(place.names() == ["o.jsonl", "o.jsonl.unfinished", "s.json", "slow.json"], place.names())
    check(place.path("o.jsonl").read_bytes() == as_failed(whole), "the file was changed")
    place.run(*flags, "--resume", code=0)
    check(place.path("o.jsonl").read_bytes() == whole, "--resume wrote something else")
    check(place.names() == ["o.jsonl", "s.json", "slow.json"], place.names())
    # Also where the next one has nothing to replace, and several were killed.
    for command in (flags + ["--resume"], flags + ["--force"], ["run", "s.json", "-o", "r.json"],
                    ["merge", "o.jsonl", "-o", "m.jsonl"]):
        target = command[command.index("-o") + 1]
        for ending in (".unfinished", ".unfinished-2", ".unfinished-3"):
            place.write(target + ending, "half")
        place.run(*command, code=0)
        check(not [name for name in place.names() if "unfinished" in name], command, place.names())
        place.write("o.jsonl", whole)


def cut_meanwhile(place):
    """a sweep whose file another program cuts or removes ends with one line, after the last point too"""
    place.sweep("whole.jsonl", nodes="2:20:+1")
    size = place.path("whole.jsonl").stat().st_size
    for at in (4000, size):
        for says, damage in (("was cut to 10 bytes", lambda path: os.truncate(path, 10)),
                             ("was removed", os.unlink)):
            name = "o.jsonl"
            place.path(name).unlink(missing_ok=True)
            process = place.start_until(
                signal.SIGSTOP, at, name, "sweep", "s.json", "--over", "/cluster/nodes=2:20:+1",
                "-o", name, "--quiet", "--jobs", "1")
            damage(place.path(name))
            process.send_signal(signal.SIGCONT)
            error = process.communicate()[1].decode()
            check(process.returncode == 1 and error == f"error: {name}: {says} by another program "
                  "while it was being written; begin anew with --force\n", name, at, says, error)


def to_the_disk(place):
    """content is on the disk before the rename, the name after it; sweeps sync on the way"""
    if shutil.which("strace") is None:
        raise Skipped("no strace")
    trace = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", "-o",
             str(place.path("calls"))]
    for command in (["run", "s.json", "-o", "r.json"], ["run", "s.json", "--timeline", "t.json"]):
        done = subprocess.run(trace + place.command(*command), cwd=place.folder, capture_output=True,
                              timeout=600, check=False)
        if b"ptrace" in done.stderr.lower() and done.returncode != 0:
            raise Skipped("no privilege to trace")
        calls = [line.split("(")[0].split()[-1] + ("" if "unfinished" in line else " folder")
                 for line in place.path("calls").read_text().splitlines() if "(" in line]
        check(calls == ["fsync", "rename", "fsync folder"], command, calls)
    place.write("slow.json", SLOW)
    process = subprocess.Popen(
        trace + place.command("sweep", "slow.json", "--over", "/cluster/nodes=2:30000:+1", "-o",
                              "o.jsonl", "--quiet", "--jobs", "1"), cwd=place.folder, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: place.path("calls").exists() and
                 place.path("calls").read_text().count("o.jsonl>") >= 1, "a sync on the way")
    finally:
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        for child in children.split():
            os.kill(int(child), signal.SIGINT)
        process.wait(60)


if __name__ == "__main__":
    run_cases([absent_and_regular, links, circles_and_folders, hard_links, pipes, devices,
               standard_output, long_names, compressed, read_only_files, full_disk, read_only_disk,
               inputs, locks, two_at_once, killed, cut_meanwhile, to_the_disk])
