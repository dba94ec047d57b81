#include "ask/assumptions.hpp"

#include <algorithm>
#include <cmath>

#include "ask/crossings.hpp"
#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "plan/planner_options.hpp"
#include "plan/planners.hpp"
#include "sweep/rows.hpp"

namespace stepsim::study {

namespace {

using coll::CompressionMethod;

// At most three digits, without zeros at the end.
std::string short_text(double value) { return base::shortest(rounded_to(value, 3)); }

std::string size_text(Bytes bytes) {
  constexpr std::int64_t kMiB = 1024 * 1024;
  return bytes.value > 0 && bytes.value % kMiB == 0
             ? std::to_string(bytes.value / kMiB) + " MiB"
             : base::readable_bytes(static_cast<double>(bytes.value));
}

std::string ddp_text(const plan::ScheduleOptions& options) {
  const bool usual = options.bucket_bytes.value == plan::kDefaultBucketBytes.value;
  const Bytes first =
      options.first_bucket_bytes.value_or(usual ? Bytes{1024 * 1024} : options.bucket_bytes);
  std::string text = "buckets of " + size_text(options.bucket_bytes);
  return first.value == options.bucket_bytes.value ? text
                                                   : text + ", the first of " + size_text(first);
}

std::string priority_text(const plan::ScheduleOptions& options) {
  const bool whole = !options.partition_bytes;
  std::string text = whole ? "whole gradients" : "chunks of " + size_text(*options.partition_bytes);
  text += ", first layers first";
  const std::int64_t one = whole ? 1 : options.partition_bytes->value;
  return text + (options.credit_bytes.value <= one
                     ? ", one at a time"
                     : ", " + size_text(options.credit_bytes) + " under way");
}

std::string dear_text(const plan::ScheduleOptions& options) {
  const std::string group = options.dear_layers ? std::to_string(*options.dear_layers) + " layers"
                                                : size_text(options.bucket_bytes);
  return "groups of " + group + "; all-gather overlaps the next forward";
}

// While k move data, each takes 1 + contention (k - 1) times as long (MER 6.1).
std::string at_once_text(const plan::ScheduleOptions& options) {
  const auto count = static_cast<double>(options.concurrency);
  const double together = count / (1 + options.contention * (count - 1));
  return std::to_string(options.concurrency) + " all-reduces at once " +
         (together == 1 ? "share the bandwidth of one"
                        : "move " + short_text(together) + " times the bandwidth of one");
}

std::string schedule_text(const Communication& communication) {
  const plan::ScheduleOptions& options = communication.schedule_options;
  const bool sparse =
      coll::row(communication.compression.method).kind == coll::CompressionKind::sparse;
  switch (communication.schedule) {
  case plan::Schedule::wfbp:
    return sparse ? "one exchange per gradient (LAGS)" : "one message per gradient";
  case plan::Schedule::ddp:
    return ddp_text(options);
  case plan::Schedule::horovod:
    return "fusion buffer of " + size_text(options.fusion_bytes) + ", cycles of " +
           short_text(options.cycle.value * 1e3) + " ms";
  case plan::Schedule::asc_wfbp:
    return at_once_text(options);
  case plan::Schedule::priority:
    return priority_text(options);
  case plan::Schedule::dear:
    return dear_text(options);
  default: // of planners without options
    return std::string(plan::planner(communication.schedule).summary);
  }
}

std::string coding_text(const coll::Compression& compression) {
  const bool encode = compression.encode_Bps > 0;
  const bool decode = compression.decode_Bps > 0;
  return encode && decode ? "coding costs as given"
         : encode         ? "decoding is free"
         : decode         ? "encoding is free"
                          : "coding is free";
}

// Of sparse and encoded methods; `work` is what may be free.
std::string costs_text(const coll::Compression& compression, const std::string& work) {
  coll::CompressCosts costs = compression.costs;
  costs.n_log_n = false;
  return costs == coll::CompressCosts{} ? work + " is free" : work + " costs as given";
}

std::string overlap_text(coll::SupportOverlap overlap) {
  switch (overlap) {
  case coll::SupportOverlap::random:
    return "selected positions are random";
  case coll::SupportOverlap::full:
    return "all select the same positions";
  case coll::SupportOverlap::disjoint:
    return "no two select the same position";
  }
  return {};
}

// What is special to the method; empty where nothing is.
std::string method_text(const coll::Compression& compression) {
  switch (compression.method) {
  case CompressionMethod::fp16:
    return "sums in 16 bits; casts are free";
  case CompressionMethod::truncate16:
    return "7 bits of mantissa, rounded at every hop";
  case CompressionMethod::quantize8:
    return "255 codes, rounded at every hop";
  case CompressionMethod::gtopk_tree:
    return "only the global top-k is applied";
  case CompressionMethod::gtopk_butterfly:
    return "only the global top-k is applied; every rank merges";
  case CompressionMethod::ok_topk:
    return "upper bound of its volume; thresholds reused";
  case CompressionMethod::sparcml_rd:
  case CompressionMethod::sparcml_split:
    return overlap_text(compression.support_overlap);
  case CompressionMethod::qsgd:
    return std::to_string(compression.bits) + " bits, scales per " +
           std::to_string(compression.bucket) + " values, all-gathered";
  case CompressionMethod::signsgd:
    return "majority vote of signs";
  case CompressionMethod::none:
  case CompressionMethod::custom:
  case CompressionMethod::topk:
  case CompressionMethod::dgc:
  case CompressionMethod::gaussian_k:
  case CompressionMethod::gtopk_exact:
  case CompressionMethod::topk_dsa:
  case CompressionMethod::hierarchical_topk:
  case CompressionMethod::powersgd:
  case CompressionMethod::omnireduce:
    return {};
  }
  return {};
}

using Parts = std::vector<std::string>;

void add(Parts& parts, std::string part) {
  if (!part.empty()) {
    parts.push_back(std::move(part));
  }
}

void add_compression(const Scenario& scenario, const std::vector<std::string>& filled_in,
                     Parts& parts) {
  const coll::Compression& compression = scenario.communication.compression;
  const auto by_default = [&](const char* key) {
    return std::ranges::find(filled_in, key) != filled_in.end() ? " by default" : "";
  };
  add(parts, method_text(compression));
  switch (coll::row(compression.method).kind) {
  case coll::CompressionKind::dense:
    return;
  case coll::CompressionKind::codec:
    if (compression.ratio !=
        coll::codec_ratio(compression.method, scenario.workload.bytes_per_value())) {
      add(parts, "ratio " + short_text(compression.ratio));
    }
    add(parts, coding_text(compression));
    return;
  case coll::CompressionKind::sparse:
    add(parts, "error feedback");
    add(parts, compression.k
                   ? "k " + std::to_string(*compression.k)
                   : "density " + base::shortest(*compression.density) + by_default("density"));
    add(parts, costs_text(compression, "compressing"));
    return;
  case coll::CompressionKind::encoded:
    if (compression.method == CompressionMethod::powersgd) {
      add(parts, "error feedback");
      add(parts, "rank " + std::to_string(compression.rank) + by_default("rank"));
      const bool shaped =
          std::ranges::any_of(scenario.workload.gradients, [](const train::Gradient& gradient) {
            return !gradient.shapes.empty();
          });
      if (!shaped) {
        add(parts, "no shape is known, so nothing is compressed");
        return;
      }
      add(parts, costs_text(compression, "factorisation"));
      return;
    }
    add(parts, costs_text(compression, "encoding"));
    return;
  }
}

void add_pipeline(const io::Json& record, Parts& parts) {
  const std::int64_t width =
      std::llround(number_in(record, "pipeline_width").value_or(1)); // as chosen, if optimal
  const std::string age = std::to_string(width - 1) + (width == 2 ? " iteration" : " iterations");
  add(parts, "width " + std::to_string(width) + ": gradients are " + age + " old");
}

void add_servers(const Scenario& scenario, const io::Json& record, Parts& parts) {
  const coll::Options& options = scenario.communication.options;
  const std::string count = std::to_string(options.servers);
  const bool one = options.servers == 1;
  switch (options.placement) {
  case coll::Placement::dedicated:
    add(parts, one ? "one dedicated server" : count + " dedicated servers");
    break;
  case coll::Placement::colocated:
    add(parts, one ? "one server, on a worker" : count + " servers, on workers");
    break;
  case coll::Placement::sharded:
    add(parts, "a server on every worker");
    break;
  }
  if (scenario.training.async) {
    add(parts, "gradients are " + short_text(number_in(record, "staleness_mean").value_or(0)) +
                   " updates old on average");
  }
}

} // namespace

std::string assumptions(const Scenario& scenario, const io::Json& record,
                        const std::vector<std::string>& filled_in) {
  Parts parts;
  switch (scenario.training.algorithm) {
  case TrainingAlgorithm::sync_sgd:
    add(parts, schedule_text(scenario.communication));
    break;
  case TrainingAlgorithm::pipe_sgd:
    add_pipeline(record, parts);
    break;
  case TrainingAlgorithm::parameter_server:
    add_servers(scenario, record, parts);
    break;
  }
  add_compression(scenario, filled_in, parts);
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : "; ") + part;
  }
  return text;
}

} // namespace stepsim::study
