#include "study/alternatives.hpp"

#include "scenario/compression/scenario_compression.hpp"
#include "study/crossings.hpp"

namespace stepsim::study {

namespace {

// At most three digits, without zeros at the end.
std::string short_text(double value) { return base::shortest(base::rounded_to(value, 3)); }

std::string schedule_text(const Communication& communication) {
  const bool sparse = collectives::row(communication.compression.method).kind ==
                      collectives::CompressionKind::sparse;
  if (communication.schedule == buckets::Schedule::wfbp && sparse) {
    return "one exchange per gradient (LAGS)";
  }
  return buckets::planner(communication.schedule).described(communication.schedule_options);
}

std::string coding_text(const collectives::Compression& compression) {
  const bool encode = compression.encode_Bps > 0;
  const bool decode = compression.decode_Bps > 0;
  return encode && decode ? "coding costs as given"
         : encode         ? "decoding is free"
         : decode         ? "encoding is free"
                          : "coding is free";
}

// Of sparse and encoded methods; `work` is what may be free.
std::string costs_text(const collectives::Compression& compression, const std::string& work) {
  collectives::CompressCosts costs = compression.costs;
  costs.n_log_n = false;
  return costs == collectives::CompressCosts{} ? work + " is free" : work + " costs as given";
}

std::string overlap_text(collectives::SupportOverlap overlap) {
  switch (overlap) {
  case collectives::SupportOverlap::random:
    return "selected positions are random";
  case collectives::SupportOverlap::full:
    return "all select the same positions";
  case collectives::SupportOverlap::disjoint:
    return "no two select the same position";
  }
  return {};
}

// What is special to the method; empty where nothing is.
std::string method_text(const collectives::Compression& compression) {
  const collectives::CompressionRow& row = collectives::row(compression.method);
  std::string text;
  if (collectives::has_key(row, "support_overlap")) {
    text = overlap_text(compression.support_overlap);
  }
  if (collectives::has_key(row, "bits")) {
    text = fmt::format("{} bits, scales per {} values", compression.bits, compression.bucket);
  }
  return text + (text.empty() || row.assumes.empty() ? "" : ", ") + std::string(row.assumes);
}

using Parts = std::vector<std::string>;

void add(Parts& parts, std::string part) {
  if (!part.empty()) {
    parts.push_back(std::move(part));
  }
}

void add_compression(const Scenario& scenario, const std::vector<std::string>& filled_in,
                     Parts& parts) {
  const collectives::Compression& compression = scenario.communication.compression;
  const auto by_default = [&](std::string_view key) {
    return std::ranges::find(filled_in, key) != filled_in.end() ? " by default" : "";
  };
  add(parts, method_text(compression));
  switch (collectives::row(compression.method).kind) {
  case collectives::CompressionKind::dense:
    return;
  case collectives::CompressionKind::codec:
    if (compression.ratio !=
        collectives::codec_ratio(compression.method, scenario.workload.bytes_per_value())) {
      add(parts, "ratio " + short_text(compression.ratio));
    }
    add(parts, coding_text(compression));
    return;
  case collectives::CompressionKind::sparse:
    add(parts, "error feedback");
    add(parts, compression.k ? "k " + std::to_string(*compression.k)
                             : "density " + base::shortest(*compression.density) +
                                   by_default(io::key_of<&collectives::Compression::density>()));
    add(parts, costs_text(compression, "compressing"));
    return;
  case collectives::CompressionKind::encoded:
    if (compression.method == collectives::CompressionMethod::custom) {
      return; // the table says it
    }
    if (collectives::has_key(collectives::row(compression.method), "rank")) {
      add(parts, "error feedback");
      add(parts, "rank " + std::to_string(compression.rank) + by_default("rank"));
      const bool shaped =
          std::ranges::any_of(scenario.workload.gradients, [](const layers::Gradient& gradient) {
            return !gradient.shapes.empty();
          });
      if (!shaped) {
        add(parts, "no shape is known, so nothing is compressed");
        return;
      }
      add(parts, assumes_low_rank_costs(scenario)
                     ? "factorisation at the speed of the GPU's products and memory (assumed)"
                     : costs_text(compression, "factorisation"));
      return;
    }
    add(parts, costs_text(compression, "encoding"));
    return;
  }
}

void add_schedule(const Scenario& scenario, const io::Json&, Parts& parts) {
  add(parts, schedule_text(scenario.communication));
}

void add_pipeline(const Scenario&, const io::Json& record, Parts& parts) {
  const std::int64_t width =
      std::llround(number_in(record, io::member_name<&Summary::pipeline_width>())
                       .value_or(1)); // as chosen, if optimal
  add(parts, fmt::format("width {}: gradients are {} {} old", width, width - 1,
                         width == 2 ? "iteration" : "iterations"));
}

void add_servers(const Scenario& scenario, const io::Json& record, Parts& parts) {
  const collectives::Options& options = scenario.communication.options;
  const std::string count = std::to_string(options.servers);
  const bool one = options.servers == 1;
  switch (options.placement) {
  case collectives::Placement::dedicated:
    add(parts, one ? "one dedicated server" : count + " dedicated servers");
    break;
  case collectives::Placement::colocated:
    add(parts, one ? "one server, on a worker" : count + " servers, on workers");
    break;
  case collectives::Placement::sharded:
    add(parts, "a server on every worker");
    break;
  }
  if (scenario.training.async()) {
    add(parts, "gradients are " + short_text(number_in(record, "staleness_mean").value_or(0)) +
                   " updates old on average");
  }
}

void add_rounds(const Scenario& scenario, const io::Json&, Parts& parts) {
  const LocalTraining& local = scenario.training.local;
  add(parts, "parameters are synchronised every " + base::counted(local.local_steps, "step"));
  if (local.overlap_steps > 0) {
    add(parts, "outer gradients are " + base::counted(local.overlap_steps, "step") + " old");
  }
}

void add_elastic(const Scenario& scenario, const io::Json& record, Parts& parts) {
  add_rounds(scenario, record, parts);
  add_servers(scenario, record, parts);
}

// What an algorithm takes for granted beside what holds for all.
struct OwnAssumptions {
  TrainingAlgorithm algorithm;
  void (*add)(const Scenario&, const io::Json& record, Parts&);
};
constexpr std::array kOwnAssumptions{
    OwnAssumptions{TrainingAlgorithm::sync_sgd, add_schedule},
    OwnAssumptions{TrainingAlgorithm::pipe_sgd, add_pipeline},
    OwnAssumptions{TrainingAlgorithm::parameter_server, add_servers},
    OwnAssumptions{TrainingAlgorithm::local_sgd, add_rounds},
    OwnAssumptions{TrainingAlgorithm::diloco, add_rounds},
    OwnAssumptions{TrainingAlgorithm::easgd, add_elastic}};

} // namespace

std::string assumptions(const Scenario& scenario, const io::Json& record,
                        const std::vector<std::string>& filled_in) {
  Parts parts;
  const auto* const own =
      std::ranges::find(kOwnAssumptions, scenario.training.algorithm, &OwnAssumptions::algorithm);
  if (own != kOwnAssumptions.end()) {
    own->add(scenario, record, parts);
  }
  add_compression(scenario, filled_in, parts);
  return base::listed(parts, {}, "; ");
}

} // namespace stepsim::study
