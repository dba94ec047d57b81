#!/usr/bin/python3
"""What docs/dlcp.md says of the ablation of DLCP is what the program does today.

usage: dlcp_test.py [--bin BUILD_DIR]
Some points run again with one seed: they give the committed numbers, and every claim that speaks of
them holds. On the committed numbers of all points and seeds every claim is as the page says.
"""
import unittest

from claimed import BINARIES, Claimed
import dlcp_ablation as ablation
import dlcp_claims as claims
from dlcp_tables import TABLES, table

IN_RING = ("1 fifo, reno", "6 + selective drop", "7 + spraying", "8 the same, p = 0")


def chosen(point, seed):
    servers = point.x == claims.SHARDED and point.arm not in ablation.LATE
    ring = point.x == claims.RING and point.arm in IN_RING
    return seed == 1 and point.scenario in ("E1", "E2") and (servers or ring)


class Dlcp(Claimed, unittest.TestCase):
    STUDY, CLAIMS, POINTS = "docs/dlcp_ablation.py", claims.CLAIMS, ablation.POINTS

    @classmethod
    def setUpClass(cls):
        cls.committed = ablation.read()
        cls.fresh = ablation.simulate(str(BINARIES / "stepsim"), 1, chosen)

    def test_claims_hold_in_fresh_runs(self):
        asked = [claim for claim in claims.CLAIMS if claim.fresh]
        self.assertGreater(len(asked), 5)
        for claim in asked:
            met, seen = claim.check(self.fresh)
            with self.subTest(claim.scenario + ": " + claim.says):
                self.assertEqual(met, claim.holds, seen)

    def test_every_table_can_be_printed(self):
        for name in TABLES:
            self.assertGreater(len(list(table(self.committed, name))), 1)


if __name__ == "__main__":
    unittest.main()
