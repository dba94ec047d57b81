#pragma once
// The compression costs in `compression_costs` of a profile (SPA 9):
//
//   {"any": {"select_s_per_element": 6.1e-9}, "topk": {"scatter_s_per_entry": 1.63e-6}}
//
// `any` applies to every method that selects or encodes. Values of a method are added to `any` or
// override it, key by key; `costs` of a scenario override the result in the same way.
#include "coll/compress/compression.hpp"
#include "net/profile/profile.hpp"

namespace stepsim::study {

// The costs of a method, 0 if the profile gives none. `any` does not apply to dense methods and
// codecs, because they select nothing.
[[nodiscard]] coll::CompressCosts costs_of(const net::NetworkProfile& profile,
                                           coll::CompressionMethod method);

} // namespace stepsim::study
