#!/usr/bin/python3
"""What docs/contention.md says of contention is what the program does today.

usage: contention_test.py [--bin BUILD_DIR]
Some points and seeds of every scenario run again: they give the committed numbers, and every claim
holds for them. On the committed numbers of all points and seeds every claim is as the page says.
"""
import argparse
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
sys.dont_write_bytecode = True

import contention_claims as claims
import contention_study as study

BINARIES = ROOT / "build"
# Of chance: more seeds, to tell it from a mistake.
SEEDS = {"Q9": range(1, 31), "Q12": range(1, 9)}
POINTS = {"Q1": (1, 2, 8, 32), "Q3": (1, 2, 8, 16, 32), "Q5": (1, 2, 8, 16, 32), "Q4": (4096, 65536),
          "Q6": (0, 0.02, 0.1, 0.2), "Q8": (2, 8, 12), "Q12": (0, 0.001, 0.01),
          "Q13": (2, 8, 32, 64, 143), "Q14": (0, 0.8), "Q12t": (0, 0.001, 0.01), "Q14t": (0, 0.2)}


def chosen(point, seed):
    few = str(point.x).startswith("permutation")
    seeds = (1, 2) if few else SEEDS.get(point.scenario, (1, 2))
    return point.x in POINTS.get(point.scenario, (point.x,)) and seed in seeds


class Contention(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.committed = study.read()
        cls.fresh = study.simulate(BINARIES, chosen)

    def test_runs_give_the_committed_numbers(self):
        found = list(study.differences(self.fresh, self.committed))
        self.assertEqual(found, [], "docs/contention_study.py writes them anew")

    def test_the_committed_file_has_every_point_and_seed(self):
        expected = {(p.scenario, p.arm, p.x): len(p.seeds) for p in study.SCENARIOS}
        have = {key: len(next(iter(point.values()))) for key, point in self.committed.points.items()}
        self.assertEqual(have, expected)

    def test_claims_hold_in_fresh_runs(self):
        for claim in claims.CLAIMS:
            met, seen = claim.check(self.fresh)
            with self.subTest(claim.scenario + ": " + claim.says):
                self.assertTrue(met or not claim.holds, seen)

    def test_claims_are_as_the_page_says(self):
        for claim in claims.CLAIMS:
            met, seen = claim.check(self.committed)
            with self.subTest(claim.scenario + ": " + claim.says):
                self.assertEqual(met, claim.holds, seen)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=BINARIES)
    options, rest = parser.parse_known_args()
    BINARIES = options.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
