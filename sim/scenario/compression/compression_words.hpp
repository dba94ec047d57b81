#pragma once
// The cost keys of `/communication/compression` with the members that they set, one list for
// reading and writing. The rows with their meaning are in
// scenario/files/keys/compression_cost_keys.hpp.

#include "collectives/compress/compression.hpp"
#include "document/fields/bound.hpp"
#include "scenario/files/keys/compression_cost_keys.hpp"

namespace stepsim::study {

// The keys that exchanges have in scenarios and in files of single collectives, and those of
// scenarios alone. What depends on other keys is read by hand.
using collectives::Compression;
inline constexpr std::array kExchangeMembers{
    io::member<&Compression::density>("density"),
    io::member<&Compression::index_bytes>("index_bytes"),
    io::member<&Compression::selected_ratio>("selected_ratio"),
    io::member<&Compression::encode_Bps>("encode_Bps"),
    io::member<&Compression::decode_Bps>("decode_Bps"),
    io::member<&Compression::count_scale_bytes>("count_scale_bytes"),
    io::member<&Compression::scale_agreement>("scale_agreement"),
    io::member<&Compression::allgather>("allgather"),
    io::member<&Compression::split_values_indices>("split_values_indices"),
    io::member<&Compression::broadcast>("broadcast"),
    io::member<&Compression::round_barriers>("round_barriers"),
    io::member<&Compression::support_overlap>("support_overlap"),
    io::member<&Compression::bits>("bits"),
    io::member<&Compression::bucket>("bucket"),
    io::member<&Compression::rank>("rank"),
    io::member<&Compression::block>("block")};
inline constexpr std::array kOwnMembers{
    io::member<&Compression::select_stream>("select_stream"),
    io::member<&Compression::residual_mask>("residual_mask"),
    io::member<&Compression::dense_warmup_iterations>("dense_warmup_iterations")};

struct CostKey {
  std::string_view key;
  double collectives::CompressCosts::*value;
};
inline constexpr std::array kCostKeys{
    CostKey{"select_s", &collectives::CompressCosts::select_s},
    CostKey{"select_s_per_element", &collectives::CompressCosts::select_s_per_element},
    CostKey{"select_s_per_entry", &collectives::CompressCosts::select_s_per_entry},
    CostKey{"select_s_per_element_log2", &collectives::CompressCosts::select_s_per_element_log2},
    CostKey{"residual_s_per_element", &collectives::CompressCosts::residual_s_per_element},
    CostKey{"staging_s_per_element", &collectives::CompressCosts::staging_s_per_element},
    CostKey{"merge_s", &collectives::CompressCosts::merge_s},
    CostKey{"merge_s_per_entry", &collectives::CompressCosts::merge_s_per_entry},
    CostKey{"scatter_s", &collectives::CompressCosts::scatter_s},
    CostKey{"scatter_s_per_entry", &collectives::CompressCosts::scatter_s_per_entry},
};

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
