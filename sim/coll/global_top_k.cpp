#include "coll/compression.hpp"
