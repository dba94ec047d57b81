#pragma once
// Adds warnings about the calibration that a result is based on.
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Replaces former names of profiles by the present ones, with a warning. Adds what follows from the
// network's profile for this run: a failed grade, which becomes the
// first warning, the note of a calibrated profile, and ranks, GPUs per node and densities outside
// its fit. NetworkProfile::warnings are not among them. Adds nothing without a profile.
void add_profile_warnings(Scenario& scenario);

} // namespace stepsim::study
