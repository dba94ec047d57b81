"""What both tests of claims ask: `STUDY` writes the committed file, `CLAIMS` are of the page, `POINTS` of the study."""
import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
sys.dont_write_bytecode = True

from contention_study import differences  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build")
options, sys.argv[1:] = parser.parse_known_args()
BINARIES = options.bin.resolve()


class Claimed:
    def test_runs_give_the_committed_numbers(self):
        self.assertEqual(list(differences(self.fresh, self.committed)), [], f"{self.STUDY} writes them anew")

    def test_the_committed_file_has_every_point_and_seed(self):
        expected = {(p.scenario, p.arm, p.x): len(p.seeds) for p in self.POINTS}
        have = {key: len(next(iter(point.values()))) for key, point in self.committed.points.items()}
        self.assertEqual(have, expected)

    def test_claims_are_as_the_page_says(self):
        for claim in self.CLAIMS:
            met, seen = claim.check(self.committed)
            with self.subTest(claim.scenario + ": " + claim.says):
                self.assertEqual(met, claim.holds, seen)
