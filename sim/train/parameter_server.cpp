#include "train/parameter_server.hpp"
