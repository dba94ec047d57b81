#include "study/run_parts.hpp"
