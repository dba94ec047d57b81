#pragma once
// The compression costs in `compression_costs` of a profile (SPA 9):
//
//   {"any": {"select_s_per_element": 6.1e-9}, "topk": {"scatter_s_per_entry": 1.63e-6}}
//
// `any` applies to every method of kind sparse or encoded (CompressionKind). A method has the keys
// of `any` and its own keys; if both have a key, the value of the method counts. The key `costs` of
// a scenario's compression overrides the result in the same way, key by key.
#include "collectives/compress/compression.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::study {

// The costs of a method; a cost that the profile does not give is 0. `any` does not apply to dense
// methods and codecs.
[[nodiscard]] collectives::CompressCosts costs_of(const links::NetworkProfile& profile,
                                                  collectives::CompressionMethod method);

} // namespace stepsim::study
