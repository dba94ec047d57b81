#include "plan/planners.hpp"
