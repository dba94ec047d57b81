#include "train/variability.hpp"
