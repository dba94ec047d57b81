#include "study/scenario_parts.hpp"
