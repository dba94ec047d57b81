#!/usr/bin/env python3
"""Beds come up, carry MPI and leave nothing behind. Needs root, else 77.

    testbed_test.py
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

TESTBED = pathlib.Path(__file__).resolve().parent / "testbed"
SLEEP = f"{100000 + os.getpid()}"  # seconds: marks our processes


def testbed(*arguments, **options):
    return subprocess.run([TESTBED, *map(str, arguments)], capture_output=True, text=True, timeout=600, **options)


def host_interfaces():
    return subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout


def namespaces(bed):
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if line.startswith((bed + "n", bed + "hub"))]


def sleepers():
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if command[:2] == [b"sleep", SLEEP.encode()]:
            found.append(int(process.name))
    return found


class Testbed(unittest.TestCase):
    def up(self, ranks, rate="100Mbps", *options):
        done = testbed("up", ranks, rate, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        bed = done.stdout.strip()
        self.addCleanup(lambda: namespaces(bed) and testbed("down", bed))
        return bed

    def down(self, bed):
        done = testbed("down", bed)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(namespaces(bed), [])
        self.assertFalse(pathlib.Path("/run/stepsim-testbed", bed).exists())

    def test_every_rank_runs_in_its_own_namespace_and_the_host_stays_as_it_was(self):
        before = host_interfaces()
        bed = self.up(3)
        self.assertEqual(len(namespaces(bed)), 4)  # and the switch
        done = testbed("run", 3, "--bed", bed, "--", "hostname")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.split()), [f"{bed}n{i}" for i in range(3)])
        self.assertEqual(testbed("run", 3, "--bed", bed, "--", "false").returncode, 1)
        self.down(bed)
        self.assertEqual(host_interfaces(), before)

    def test_down_ends_what_a_killed_driver_left(self):
        bed = self.up(2)
        driver = subprocess.Popen([TESTBED, "run", "2", "--bed", bed, "--", "sleep", SLEEP],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(sleepers()) < 2 and driver.poll() is None:
            time.sleep(0.1)
        self.assertEqual(len(sleepers()), 2)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        self.assertEqual(len(sleepers()), 2)
        self.down(bed)
        self.assertEqual(sleepers(), [])

    def test_down_finds_what_a_killed_up_left(self):
        driver = subprocess.Popen([TESTBED, "up", "40", "100Mbps"], stdout=subprocess.DEVNULL, start_new_session=True)
        bed = f"sst{driver.pid}"
        while len(namespaces(bed)) < 5 and driver.poll() is None:
            time.sleep(0.01)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        self.assertTrue(namespaces(bed))
        with contextlib.suppress(ProcessLookupError):  # until the last `ip` on its way has ended
            while True:
                os.killpg(driver.pid, 0)
                time.sleep(0.01)
        self.down(bed)

    def test_two_beds_at_once_do_not_meet(self):
        first = self.up(2)
        second = self.up(2)
        done = testbed("down")
        self.assertEqual(done.returncode, 2)
        self.assertIn(first, done.stderr)
        self.assertIn(second, done.stderr)
        self.down(first)
        self.assertEqual(len(namespaces(second)), 3)
        done = testbed("run", 2, "--bed", second, "--", "hostname")
        self.assertEqual(sorted(done.stdout.split()), [f"{second}n0", f"{second}n1"])
        self.down(second)

    def test_a_bed_for_one_command_is_gone_after_it_and_after_a_signal(self):
        done = testbed("run", 2, "--rate", "100Mbps", "--", "hostname")
        self.assertEqual(done.returncode, 0, done.stderr)
        bed = done.stdout.split()[0][:-2]
        self.assertEqual(namespaces(bed), [])
        driver = subprocess.Popen([TESTBED, "run", "2", "--rate", "100Mbps", "--", "sleep", SLEEP],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(sleepers()) < 2 and driver.poll() is None:
            time.sleep(0.1)
        driver.send_signal(signal.SIGTERM)
        self.assertEqual(driver.wait(), 130)
        self.assertEqual(namespaces(f"sst{driver.pid}"), [])
        self.assertEqual(sleepers(), [])

    def test_the_rate_is_the_one_asked_for(self):
        bed = self.up(1, "123Mbps")
        for namespace, device in ((f"{bed}n0", "eth0"), (f"{bed}hub", "v0")):
            shown = subprocess.run(["tc", "-n", namespace, "qdisc", "show", "dev", device],
                                   capture_output=True, text=True).stdout
            self.assertRegex(shown, r"qdisc tbf .* rate 123Mbit burst 3\d\d\db")
        self.down(bed)

    def test_packets_are_as_large_as_asked_for(self):
        bed = self.up(4, "50Mbps", "--mtu", "9000", "--uplink", "25Mbps")
        for namespace, device in ((f"{bed}n0", "eth0"), (f"{bed}hub", "v3"), (f"{bed}hub", "up0")):
            shown = subprocess.run(["ip", "-n", namespace, "link", "show", device], capture_output=True, text=True).stdout
            self.assertIn("mtu 9000", shown)
        self.down(bed)

    def test_wrong_use_is_refused(self):
        for arguments, message in ((("up", 0, "1Gbps"), "1..200"), (("up", 201, "1Gbps"), "1..200"),
                                   (("up", 2, "200mbps"), "200Mbps"), (("up", 2), "usage"),
                                   (("up", 2, "1Gbps", "--slow", "2=1Gbps"), "rank below P"),
                                   (("up", 2, "1Gbps", "--queue", "5"), "like 50ms"),
                                   (("up", 2, "1Gbps", "--queue"), "usage"),
                                   (("up", 2, "1Gbps", "--mtu", "500"), "1500..65000"),
                                   (("run", 2, "--loopback", "--mtu", "9000", "--", "true"), "no --loopback"),
                                   (("run", 2, "--bed", "sst0", "--queue", "9ms", "--", "true"), "need --rate"),
                                   (("down", "sst0"), "no bed"), (("run", 2), "usage"),
                                   (("down", "../x"), "no bed")):
            done = testbed(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", TESTBED, "up", "2",
                               "1Gbps"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (77, "testbed: needs root (or run --loopback)\n"))


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("needs root")
        sys.exit(77)
    probe = testbed("run", 1, "--rate", "100Mbps", "--", "true")
    if probe.returncode == 77:
        print(probe.stderr)
        sys.exit(77)
    unittest.main()
