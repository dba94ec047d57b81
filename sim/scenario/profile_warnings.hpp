#pragma once
// Adds warnings about the calibration that a result is based on.
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Adds the warnings of the network's profile, and warnings about ranks and densities outside its
// fit. A failed grade becomes the first warning.
void add_profile_warnings(Scenario& scenario);

} // namespace stepsim::study
