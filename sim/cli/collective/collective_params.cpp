// Rows of three kinds: words of a collective, words of a compression, numbers of a compression. A
// name that belongs to compressions is remembered, so that it can be refused where no method reads
// it.
#include "cli/collective/collective_params.hpp"
#include "scenario/keys/communication_keys.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "json/reader.hpp"

namespace stepsim::cli {

namespace {

using coll::AlgorithmId;

using Values = std::span<const std::string_view>;

// The order makes the index of the word the value of the switch.
constexpr std::array<std::string_view, 2> kNoYes{"false", "true"};
// `index` is the place of the word among the values, or the number itself where there are no words.
struct Param {
  std::string_view name;
  io::KeyWords values; // the words that it takes; none = a count
  void (*apply)(coll::Options&, std::size_t index, std::string_view word);
};

// The word was checked against the values of its row.
AlgorithmId algorithm_of(std::string_view word) { return *coll::parse_algorithm(word); }

constexpr std::array kParams{
    Param{"reduction_mode", coll::kReductionModes.all(),
          [](coll::Options& o, std::size_t, std::string_view word) {
            o.reduction_mode = *coll::kReductionModes.find(word);
          }},
    Param{"chunking", coll::kChunkings.all(),
          [](coll::Options& o, std::size_t, std::string_view word) {
            o.chunking = *coll::kChunkings.find(word);
          }},
    Param{"element_bytes", io::KeyWords(),
          [](coll::Options& o, std::size_t i, std::string_view) {
            o.element_bytes = static_cast<std::int64_t>(i);
          }},
    Param{"cost_form", coll::kCostForms.all(),
          [](coll::Options& o, std::size_t, std::string_view word) {
            o.cost_form = *coll::kCostForms.find(word);
          }},
    Param{"lp_last_hop", kNoYes,
          [](coll::Options& o, std::size_t i, std::string_view) { o.lp_last_hop = i == 1; }},
    Param{"ring_startup", study::keys::kRingStartups,
          [](coll::Options& o, std::size_t i, std::string_view) { o.ring_startup_2p = i == 1; }},
    Param{"exchange_sizes", kNoYes,
          [](coll::Options& o, std::size_t i, std::string_view) { o.exchange_sizes = i == 1; }},
    Param{"intra_algorithm", study::keys::algorithms_in_node,
          [](coll::Options& o, std::size_t, std::string_view word) {
            o.intra_algorithm = algorithm_of(word);
          }},
    Param{"inter_algorithm", study::keys::algorithms_between_nodes,
          [](coll::Options& o, std::size_t, std::string_view word) {
            o.inter_algorithm = algorithm_of(word);
          }},
};

// Numbers of a compression; `kind` is how they are written.
struct CompressionParam {
  std::string_view name;
  base::QuantityKind kind;
  io::Range range;
  void (*apply)(coll::Compression&, double value);
};

std::int64_t whole_number(double value) { return static_cast<std::int64_t>(value); }

constexpr double kMost = 1e9;
constexpr double kMostRatio = 1000; // k' / k

constexpr std::array kCompressionNumbers{
    CompressionParam{"selected_ratio", base::QuantityKind::ratio,
                     io::Range{.low = 0, .high = kMostRatio, .open_low = true},
                     [](coll::Compression& c, double v) { c.selected_ratio = v; }},
    CompressionParam{"bits", base::QuantityKind::count, io::Range{.low = 1, .high = 32},
                     [](coll::Compression& c, double v) { c.bits = whole_number(v); }},
    CompressionParam{"bucket", base::QuantityKind::count, io::Range{.low = 1, .high = kMost},
                     [](coll::Compression& c, double v) { c.bucket = whole_number(v); }},
    CompressionParam{"rank", base::QuantityKind::count, io::Range{.low = 1, .high = 1 << 20},
                     [](coll::Compression& c, double v) { c.rank = whole_number(v); }},
    CompressionParam{"block", base::QuantityKind::count, io::Range{.low = 1, .high = kMost},
                     [](coll::Compression& c, double v) { c.block = whole_number(v); }},
    CompressionParam{"ratio", base::QuantityKind::ratio, io::Range{.low = 1},
                     [](coll::Compression& c, double v) { c.ratio = v; }},
    CompressionParam{"encode_Bps", base::QuantityKind::rate, io::Range{.low = 0},
                     [](coll::Compression& c, double v) { c.encode_Bps = v; }},
    CompressionParam{"decode_Bps", base::QuantityKind::rate, io::Range{.low = 0},
                     [](coll::Compression& c, double v) { c.decode_Bps = v; }},
};

// Of a compression, as Param is of a collective.
struct CompressionWords {
  std::string_view name;
  Values values;
  void (*apply)(coll::Compression&, std::size_t index, std::string_view word);
};

constexpr std::array kCompressionWords{
    CompressionWords{"split_values_indices", kNoYes,
                     [](coll::Compression& c, std::size_t i, std::string_view) {
                       c.split_values_indices = i == 1;
                     }},
    CompressionWords{
        "round_barriers", kNoYes,
        [](coll::Compression& c, std::size_t i, std::string_view) { c.round_barriers = i == 1; }},
    CompressionWords{"support_overlap", coll::kSupportOverlaps.all(),
                     [](coll::Compression& c, std::size_t, std::string_view word) {
                       c.support_overlap = *coll::kSupportOverlaps.find(word);
                     }},
    CompressionWords{"count_scale_bytes", kNoYes,
                     [](coll::Compression& c, std::size_t i, std::string_view) {
                       c.count_scale_bytes = i == 1;
                     }},
    CompressionWords{
        "scale_agreement", kNoYes,
        [](coll::Compression& c, std::size_t i, std::string_view) { c.scale_agreement = i == 1; }},
};
constexpr std::string_view kShapes = "shapes";

// "64x32" at 'x': {"64", "32"}; empty for an empty text.
std::vector<std::string_view> parts_of(std::string_view words, char at) {
  std::vector<std::string_view> parts;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(at), words.size());
    parts.push_back(words.substr(0, end));
    words.remove_prefix(std::min(words.size(), end + 1));
  }
  return parts;
}

// The words of a row with spaces between, as help shows them.
std::string listed(Values values) {
  std::string text;
  for (const std::string_view value : values) {
    text.append(text.empty() ? "" : " ").append(value);
  }
  return text;
}

// Every name that --param takes, to find the nearest one to a name that is wrong.
std::vector<std::string_view> known_names() {
  std::vector<std::string_view> known;
  for (const Param& each : kParams) {
    known.push_back(each.name);
  }
  for (const CompressionWords& each : kCompressionWords) {
    known.push_back(each.name);
  }
  for (const CompressionParam& each : kCompressionNumbers) {
    known.push_back(each.name);
  }
  known.push_back(kShapes);
  return known;
}

// In SI units, checked against the range of its row.
double number(std::string_view text, std::string_view value, base::QuantityKind kind,
              const io::Range& range) {
  const auto parsed = base::parse_quantity(value, kind);
  if (const auto* message = std::get_if<std::string>(&parsed)) {
    throw UsageError("--param " + base::shown_value(text) + ": " + *message);
  }
  const double result = std::get<double>(parsed);
  if (!range.contains(result)) {
    throw UsageError("--param " + base::shown_value(text) + ": " + range.text() + ", got " +
                     base::shortest(result));
  }
  return result;
}

// The place of the word in `known`; only switches of two words use it, the others look up their
// enum.
std::size_t word(std::string_view name, std::string_view value, Values known) {
  const auto found = std::ranges::find(known, value);
  if (found == known.end()) {
    throw UsageError("--param: " + base::unknown_word(name, value, known));
  }
  return static_cast<std::size_t>(found - known.begin());
}

// "64x32,100": {64, 32}, {100, 1}. A tensor is taken as a matrix of its first dimension against all
// others, as PowerSGD does. Empty if the text is no such list, or if a tensor has more than 2^53
// values, beyond which a double does not count exactly.
std::vector<coll::MatrixShape> parse_shapes(std::string_view value) {
  constexpr double kMostValues = 9007199254740992.0; // 2^53
  std::vector<coll::MatrixShape> shapes;
  for (const std::string_view tensor : parts_of(value, ',')) {
    coll::MatrixShape shape{0, 1};
    double values = 1;
    for (const std::string_view size : parts_of(tensor, 'x')) {
      const auto parsed = base::parse_quantity(size, base::QuantityKind::count);
      const double* length = std::get_if<double>(&parsed);
      values *= length != nullptr ? *length : 0;
      if (values < 1 || values > kMostValues) {
        return {};
      }
      shape.rows == 0 ? shape.rows = whole_number(*length) : shape.columns *= whole_number(*length);
    }
    if (shape.rows == 0) {
      return {};
    }
    shapes.push_back(shape);
  }
  return shapes;
}

// Sets a parameter of a compression and remembers its name; false if the name is none of those.
// Names are stored as the tables have them, because these outlive the text of the flag.
bool apply_compression_param(CollectiveParams& params, std::string_view text, std::string_view name,
                             std::string_view value) {
  const auto* words = std::ranges::find(kCompressionWords, name, &CompressionWords::name);
  const auto* numbers = std::ranges::find(kCompressionNumbers, name, &CompressionParam::name);
  if (words != kCompressionWords.end()) {
    words->apply(params.compression, word(name, value, words->values), value);
    params.given.push_back(words->name);
  } else if (numbers != kCompressionNumbers.end()) {
    numbers->apply(params.compression, number(text, value, numbers->kind, numbers->range));
    params.given.push_back(numbers->name);
  } else if (name == kShapes) {
    params.shapes = parse_shapes(value);
    if (params.shapes.empty()) {
      throw UsageError("--param " + base::shown_value(text) +
                       ": must be shapes like 64x32,100 of whole_number sizes");
    }
    params.given.push_back(kShapes);
  } else {
    return false;
  }
  return true;
}

} // namespace

// Names of compressions are tried first; they share none with those of collectives.
void apply_param(CollectiveParams& params, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == std::string_view::npos) {
    throw UsageError("--param " + base::shown_value(text) + ": must be NAME=VALUE");
  }
  const std::string_view value = text.substr(equals + 1);
  if (apply_compression_param(params, text, name, value)) {
    return;
  }
  const auto* param = std::ranges::find(kParams, name, &Param::name);
  if (param == kParams.end()) {
    throw UsageError("--param: " + base::unknown_word("parameter", name, known_names()));
  }
  const std::vector<std::string_view> values = param->values.all();
  if (values.empty()) {
    const auto parsed = base::parse_quantity(value, base::QuantityKind::count);
    if (const auto* message = std::get_if<std::string>(&parsed)) {
      throw UsageError("--param " + base::shown_value(text) + ": " + *message);
    }
    const double count = std::get<double>(parsed);
    if (count < 1 || count > 1e6) {
      throw UsageError("--param " + base::shown_value(text) +
                       ": must be an integer in [1, 1000000]");
    }
    param->apply(params.options, static_cast<std::size_t>(count), value);
    return;
  }
  param->apply(params.options, word(name, value, values), value);
}

// The names and words come from the rows; the defaults are those of coll::Options, in the order of
// the rows.
std::string params_help() {
  std::string text = "rare switches, repeatable:";
  for (const Param& param : kParams) {
    text.append(&param == kParams.data() ? " " : "; ").append(param.name).append(" ");
    const std::vector<std::string_view> values = param.values.all();
    text.append(values.empty() ? "COUNT" : listed(values));
  }
  text += "; defaults exact, integer, overlapped, 1, true, 2(P-1), false, mst, ring. Of compressed "
          "exchanges:";
  for (const CompressionWords& param : kCompressionWords) {
    text.append(&param == kCompressionWords.data() ? " " : "; ").append(param.name).append(" ");
    text.append(listed(param.values));
  }
  for (const CompressionParam& param : kCompressionNumbers) {
    text.append("; ").append(param.name);
    text += param.kind == base::QuantityKind::count  ? " COUNT"
            : param.kind == base::QuantityKind::rate ? " RATE"
                                                     : " NUMBER";
  }
  return text + "; shapes ROWSxCOLUMNS,.. (powersgd)";
}

} // namespace stepsim::cli
