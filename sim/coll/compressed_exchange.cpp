#include "coll/compressed_exchange.hpp"
