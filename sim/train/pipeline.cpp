#include "train/pipeline.hpp"
