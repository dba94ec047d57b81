#pragma once
// The cost keys of `/communication/compression` with the members that they set, one list for
// reading and writing. The rows with their meaning are in
// scenario/files/keys/samples_keys.hpp.

#include "collectives/compress/compression.hpp"
#include "document/fields/members.hpp"
#include "scenario/files/keys/samples_keys.hpp"

namespace stepsim::study {

// The keys that exchanges have in scenarios and in files of single collectives, and those of
// scenarios alone. What depends on other keys is read by hand.
using collectives::Compression;
inline constexpr auto kExchangeMembers =
    io::members<&Compression::density, &Compression::index_bytes, &Compression::selected_ratio,
                &Compression::encode_Bps, &Compression::decode_Bps, &Compression::count_scale_bytes,
                &Compression::scale_agreement, &Compression::allgather,
                &Compression::split_values_indices, &Compression::broadcast,
                &Compression::round_barriers, &Compression::support_overlap, &Compression::bits,
                &Compression::bucket, &Compression::rank, &Compression::block>;
inline constexpr auto kOwnMembers =
    io::members<&Compression::select_stream, &Compression::residual_mask,
                &Compression::dense_warmup_iterations>;

struct CostKey {
  std::string_view key;
  double collectives::CompressCosts::*value;
};
template <auto... Costs>
inline constexpr std::array kKeysOfCosts{CostKey{io::member_name<Costs>(), Costs}...};
using collectives::CompressCosts;
inline constexpr auto& kCostKeys =
    kKeysOfCosts<&CompressCosts::select_s, &CompressCosts::select_s_per_element,
                 &CompressCosts::select_s_per_entry, &CompressCosts::select_s_per_element_log2,
                 &CompressCosts::residual_s_per_element, &CompressCosts::staging_s_per_element,
                 &CompressCosts::merge_s, &CompressCosts::merge_s_per_entry,
                 &CompressCosts::scatter_s, &CompressCosts::scatter_s_per_entry>;

static_assert(std::ranges::equal(kCostKeys, io::keys::kCompressionCosts, {}, &CostKey::key,
                                 &io::Key::name));

// Whether the cost `key` is used: with `n_log_n`, selecting from n elements takes a time
// proportional to n log n, else to n and to the number of entries. Costs of anything but selecting
// are always used.
[[nodiscard]] inline bool in_form(std::string_view key, bool n_log_n) {
  if (key == "select_s_per_element_log2") {
    return n_log_n;
  }
  return !n_log_n || (key != "select_s_per_element" && key != "select_s_per_entry");
}

} // namespace stepsim::study
