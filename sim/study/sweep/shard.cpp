// Shards are told by the user or by the environment of a job. Anything irregular is refused: a
// guess that is wrong would leave points out or compute them twice, which shows only when the
// shards are merged.
#include "study/sweep/shard.hpp"

#include <array>
#include <optional>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace stepsim::study {

namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto value = base::parse_number<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

Shard checked(std::int64_t index, std::int64_t count, const std::string& text) {
  if (count < 1) {
    throw UsageError("--shard " + text + ": needs at least one shard");
  }
  if (count > kMostShards) {
    throw UsageError("--shard " + text + ": more than " + std::to_string(kMostShards) + " shards");
  }
  if (index < 0 || index >= count) {
    throw UsageError("--shard " + text + ": index must be 0.." + std::to_string(count - 1));
  }
  return {index, count};
}

// A variable that must be there and be a whole number.
// A batch system sets all of its variables; if one is missing, something else has set the others.
std::int64_t variable(const Environment& environment, const std::string& name) {
  const char* text = environment(name.c_str());
  if (text == nullptr) {
    throw UsageError("--shard auto: " + name + " is not set: give --shard explicitly");
  }
  const auto value = whole_number(text);
  if (!value) {
    throw UsageError("--shard auto: " + name + "=" + base::shown_value(text) +
                     " is no whole number: give --shard explicitly");
  }
  return *value;
}

// An array such as 0-9:2 has its tasks in equal steps; lists such as 1,5,7 have not, and the
// position of a task in them cannot be computed from its number.
std::optional<Shard> array_part(const Environment& environment) {
  if (environment("SLURM_ARRAY_TASK_ID") == nullptr) {
    return std::nullopt;
  }
  const std::int64_t id = variable(environment, "SLURM_ARRAY_TASK_ID");
  const std::int64_t min = variable(environment, "SLURM_ARRAY_TASK_MIN");
  const std::int64_t max = variable(environment, "SLURM_ARRAY_TASK_MAX");
  const std::int64_t step = variable(environment, "SLURM_ARRAY_TASK_STEP");
  const std::int64_t count = variable(environment, "SLURM_ARRAY_TASK_COUNT");
  const bool regular = step >= 1 && id >= min && id <= max && (id - min) % step == 0 &&
                       (max - min) / step + 1 == count;
  if (!regular) {
    throw UsageError("--shard auto: the job array is no regular range (task " + std::to_string(id) +
                     " of " + std::to_string(min) + ".." + std::to_string(max) + ", step " +
                     std::to_string(step) + ", " + std::to_string(count) +
                     " tasks): give --shard explicitly");
  }
  return Shard{(id - min) / step, count};
}

// Not SLURM_NTASKS: in a batch script started with -n 2 it is 2 while one process runs.
// A launcher may start several processes per array task; each is a shard of its own.
std::optional<Shard> rank_part(const Environment& environment) {
  static constexpr std::array<std::array<const char*, 2>, 3> kLaunchers{
      {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
       {"PMI_RANK", "PMI_SIZE"},
       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}};
  for (const auto& [rank, size] : kLaunchers) {
    if (environment(rank) != nullptr && environment(size) != nullptr) {
      return checked(variable(environment, rank), variable(environment, size),
                     std::string("auto (") + rank + ", " + size + ")");
    }
  }
  return std::nullopt;
}

} // namespace

Shard parse_shard(std::string_view text) {
  const std::string shown = base::shown_value(text);
  const std::size_t slash = text.find('/');
  const auto index = whole_number(text.substr(0, slash));
  const auto count =
      slash == std::string_view::npos ? std::nullopt : whole_number(text.substr(slash + 1));
  if (!index || !count) {
    throw UsageError("--shard " + shown + ": must be INDEX/COUNT (0/4) or auto");
  }
  return checked(*index, *count, shown);
}

Shard shard_from_environment(const Environment& environment) {
  const auto array = array_part(environment);
  const auto rank = rank_part(environment);
  if (!array && !rank) {
    throw UsageError("--shard auto: neither a job array nor an MPI launcher in the environment: "
                     "give --shard explicitly");
  }
  const Shard a = array.value_or(Shard{});
  const Shard s = rank.value_or(Shard{});
  std::int64_t count{};
  if (__builtin_mul_overflow(a.count, s.count, &count) || count > kMostShards) {
    throw UsageError("--shard auto: too many shards");
  }
  return {a.index * s.count + s.index, count};
}

// Different shards must never write to the same file, so that the name is changed even if it holds
// no "{shard}". A leading dot of a hidden file is no extension.
std::string shard_file_name(const std::string& name, const Shard& shard) {
  const std::string text = std::to_string(shard.index) + "-of-" + std::to_string(shard.count);
  static constexpr std::string_view kPlace = "{shard}";
  std::string result = name;
  if (result.find(kPlace) != std::string::npos) {
    for (std::size_t at = result.find(kPlace); at != std::string::npos;
         at = result.find(kPlace, at + text.size())) {
      result.replace(at, kPlace.size(), text);
    }
    return result;
  }
  if (shard.count == 1 || name == "-") {
    return name;
  }
  const std::size_t slash = name.rfind('/');
  const std::size_t base_begin = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  const bool has_extension = dot != std::string::npos && dot > base_begin;
  result.insert(has_extension ? dot : name.size(), ".shard-" + text);
  return result;
}

} // namespace stepsim::study
