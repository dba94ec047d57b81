#pragma once
// What a result must say of the calibration that it rests on.
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Adds what the profile of the network says of itself, and of ranks and densities that it was not
// fitted to. A failed grade becomes the first warning.
void add_profile_warnings(Scenario& scenario);

} // namespace stepsim::study
