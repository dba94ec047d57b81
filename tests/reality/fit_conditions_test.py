#!/usr/bin/python3
"""The refit of the factors of typical conditions: what it gives for the committed rows, and for rows that are known.

    fit_conditions_test.py STEPSIM [-v] [NAME ...]
"""
import json
import math
import statistics
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import error_table
import fit_conditions
import one_measurement
import predict

STEPSIM = None


class Refit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.rows = [row for row in predict.predictions(STEPSIM, folder=folder.name)[0] if "typical_scenario" in row]
        cls.factors = json.loads(fit_conditions.SHIPPED.read_text(encoding="utf-8"))["factors"]
        cls.steps = fit_conditions.Steps(STEPSIM, cls.rows)
        cls.linear = cls.steps.linear(cls.factors)

    def fit(self, rows):
        return fit_conditions.Fit(rows, self.factors, *self.linear)

    def test_steps_with_the_shipped_factors_are_those_of_the_scoreboard(self):
        for row, step in zip(self.rows, self.linear[0]):
            self.assertAlmostEqual(math.exp(step) / row["typical_step_s"], 1, delta=1e-12, msg=row["row"])

    def test_no_factor_leaves_two_spreads_of_the_shipped_one(self):
        fit = self.fit(self.rows)
        for name, found, shipped, tau in zip(fit.names, fit.without(), fit.shipped, fit.tau):
            self.assertLessEqual(abs(found - shipped), fit_conditions.BOUND * tau, name)

    def test_a_fit_is_stationary(self):
        """The most probable factors: moving one of them to either side makes the rows less probable."""
        fit = self.fit(self.rows)
        at = fit.without()

        def loss(at):
            prior = sum(((a - p) / t) ** 2 / 2 for a, p, t in zip(at, fit.prior, fit.tau))
            change = [a - s for a, s in zip(at, fit.shipped)]
            for _, weight, residual, moves in fit.rows:
                now = (residual + sum(slope * change[j] for j, slope in moves)) / fit_conditions.ERROR
                prior += weight * fit_conditions.DELTA ** 2 * (math.sqrt(1 + (now / fit_conditions.DELTA) ** 2) - 1)
            return prior

        least = loss(at)
        for j, name in enumerate(fit.names):
            for side in (-0.01, 0.01):
                moved = list(at)
                moved[j] += side * fit.tau[j]
                if fit.low[j] <= moved[j] <= fit.high[j]:
                    self.assertGreater(loss(moved), least, name)

    def test_rows_that_were_made_with_known_factors_give_them_back(self):
        """Slopes are exact here: the measured steps follow the linear model, far more of them than the prior weighs."""
        fit = self.fit(self.rows)
        known = [p + 0.5 * t for p, t in zip(fit.prior, fit.tau)]
        made = []
        for source, _, _, moves in fit.rows:
            change = sum(slope * (known[j] - fit.shipped[j]) for j, slope in moves)
            made.append((source, 1e6, -change, moves))
        fit.rows = made
        told = {j for _, _, _, moves in made for j, slope in moves if abs(slope) > fit_conditions.MOVES}
        for j, found in enumerate(fit.without()):
            if j in told:
                self.assertAlmostEqual(found, known[j], delta=1e-3 * fit.tau[j], msg=fit.names[j])

    def test_out_of_source_is_what_is_committed(self):
        found = fit_conditions.out_of_source(self.rows, self.steps, self.factors, self.linear)
        committed = fit_conditions.committed()
        self.assertEqual(list(found), list(committed))
        for row, steps in found.items():
            self.assertEqual(len(steps), len(committed[row]), row)
            for step, known in zip(steps, committed[row]):
                self.assertAlmostEqual(step / known, 1, delta=1e-6, msg=row)

    def test_the_goals_out_of_source_with_the_prior_of_fit_conditions(self):
        """Median and 90th percentile of all rows, and of those where communication counts."""
        rows = fit_conditions.with_out_of_source(self.rows, fit_conditions.committed())
        for chosen, median, most in ((rows, 0.07, 0.25), ([row for row in rows if "above" in row["communication"]], 0.11, 0.36)):
            sizes = [abs(row["err_known"]) for row in chosen]
            self.assertLess(statistics.median(sizes), median)
            self.assertLess(error_table.quantile(sizes, 0.9), most)

    def test_one_measurement_and_orders_out_of_source(self):
        """CON 7: from a run on several machines to more of them, and the orders of methods that are stated."""
        rows = fit_conditions.with_out_of_source(self.rows, fit_conditions.committed())
        several = [row for row in rows if row["nodes"] > 1]
        after = [abs(each) for _, each in one_measurement.scaled(several, lambda row: row["nodes"])]
        self.assertGreater(len(after), 240)
        self.assertLess(statistics.median(after), 0.03)
        self.assertLess(error_table.quantile(after, 0.9), 0.12)
        orders = one_measurement.Orders(rows, one_measurement.spreads_of(rows, self.linear[1], self.factors))
        self.assertEqual(orders.groups, 36)
        self.assertGreater(orders.stated, 200)
        self.assertGreater(orders.right / orders.stated, 0.9)
        self.assertGreaterEqual(orders.contained, 34)


if __name__ == "__main__":
    STEPSIM = sys.argv.pop(1)
    unittest.main()
