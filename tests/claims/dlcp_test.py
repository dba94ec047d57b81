#!/usr/bin/python3
"""What docs/dlcp.md says of the ablation of DLCP is what the program does today.

usage: dlcp_test.py [--bin BUILD_DIR]
Some points run again with one seed: they give the committed numbers, and every claim that speaks of
them holds. On the committed numbers of all points and seeds every claim is as the page says.
"""
import argparse
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
sys.dont_write_bytecode = True

import dlcp_ablation as ablation
import dlcp_claims as claims
from contention_study import differences
from dlcp_tables import TABLES, table

BINARIES = ROOT / "build"
IN_RING = ("1 fifo, reno", "6 + selective drop", "7 + spraying", "8 the same, p = 0")


def chosen(point, seed):
    servers = point.x == claims.SHARDED and point.arm not in ablation.LATE
    ring = point.x == claims.RING and point.arm in IN_RING
    return seed == 1 and point.scenario in ("E1", "E2") and (servers or ring)


class Dlcp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.committed = ablation.read()
        cls.fresh = ablation.simulate(str(BINARIES / "stepsim"), 1, chosen)

    def test_runs_give_the_committed_numbers(self):
        found = list(differences(self.fresh, self.committed))
        self.assertEqual(found, [], "docs/dlcp_ablation.py writes them anew")

    def test_the_committed_file_has_every_point_and_seed(self):
        expected = {(p.scenario, p.arm, p.x): len(p.seeds) for p in ablation.POINTS}
        have = {key: len(next(iter(point.values()))) for key, point in self.committed.points.items()}
        self.assertEqual(have, expected)

    def test_claims_hold_in_fresh_runs(self):
        asked = [claim for claim in claims.CLAIMS if claim.fresh]
        self.assertGreater(len(asked), 5)
        for claim in asked:
            met, seen = claim.check(self.fresh)
            with self.subTest(claim.scenario + ": " + claim.says):
                self.assertEqual(met, claim.holds, seen)

    def test_claims_are_as_the_page_says(self):
        for claim in claims.CLAIMS:
            met, seen = claim.check(self.committed)
            with self.subTest(claim.scenario + ": " + claim.says):
                self.assertEqual(met, claim.holds, seen)

    def test_every_table_can_be_printed(self):
        for name in TABLES:
            self.assertGreater(len(list(table(self.committed, name))), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=BINARIES)
    options, rest = parser.parse_known_args()
    BINARIES = options.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
