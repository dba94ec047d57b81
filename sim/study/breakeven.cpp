#include "study/scenario.hpp"
