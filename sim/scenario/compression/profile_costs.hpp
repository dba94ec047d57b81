#pragma once
// What compressing costs by a profile's `compression_costs` (SPA 9):
//
//   {"any": {"select_s_per_element": 6.1e-9}, "topk": {"scatter_s_per_entry": 1.63e-6}}
//
// `any` applies to every method that selects or encodes, a method's own values add to it or
// override it, key by key. A scenario's own `costs` override the result in the same way.
#include "coll/compress/compression.hpp"
#include "net/profile/profile.hpp"

namespace stepsim::study {

// All 0 where the profile says nothing of the method. Dense methods and codecs get nothing of
// `any`: there is nothing to select.
[[nodiscard]] coll::CompressCosts costs_of(const net::NetworkProfile& profile,
                                           coll::CompressionMethod method);

} // namespace stepsim::study
