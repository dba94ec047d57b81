#pragma once
// The instances of program_instances.json, read as programs. They and the values that they expect
// come from the reference evaluator of the project's specification of training programs, a separate
// program in Python; times are binary fractions. The key `fields` of the file explains its names.
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "document/json.hpp"
#include "document/json_text.hpp"
#include "programs/operation_times.hpp"
#include "programs/program_draft.hpp"
#include "programs/training_program.hpp"
#include "testing/paths.hpp"

namespace stepsim::programs {

inline const io::Array& instances() {
  static const io::Json document = [] {
    const std::string file = STEPSIM_SOURCE_DIR "/tests/programs/program_instances.json";
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return io::parse_json(text.str(), file);
  }();
  return document.find("instances")->as_array();
}

inline std::vector<double> numbers(const io::Json& list) {
  std::vector<double> result;
  for (const io::Json& item : list.as_array()) {
    if (item.is_array()) {
      const std::vector<double> inner = numbers(item);
      result.insert(result.end(), inner.begin(), inner.end());
    } else {
      result.push_back(item.as_double());
    }
  }
  return result;
}

inline double number_or(const io::Json& object, std::string_view key, double otherwise) {
  const io::Json* found = object.find(key);
  return found != nullptr ? found->as_double() : otherwise;
}

inline std::string text_or(const io::Json& object, std::string_view key, std::string otherwise) {
  const io::Json* found = object.find(key);
  return found != nullptr ? found->as_string() : otherwise;
}

inline Interference interference_of(const io::Json& json) {
  Interference result;
  if (const io::Json* compute = json.find("compute")) {
    result.compute.fill(compute->find("*")->as_double());
    for (const auto& [kind, slowdown] : compute->as_object()) {
      if (kind != "*") {
        result.compute.at(static_cast<std::size_t>(*kKinds.find(kind))) = slowdown.as_double();
      }
    }
    result.exchange = json.find("exchange")->as_double();
  }
  return result;
}

inline Operation operation_of(const io::Json& json, std::uint32_t stream) {
  Operation operation;
  operation.id = json.find("id")->as_string();
  operation.stream = stream;
  operation.type = *kOperationTypes.find(json.find("type")->as_string());
  // Entry `each`: which collective it is stands in another key than the kind.
  operation.kind = *kKinds.find(text_or(json, "collective", json.find("kind")->as_string()));
  operation.seconds = {number_or(json, "seconds", 0)};
  operation.startup = {number_or(json, "startup", 0)};
  operation.data = {number_or(json, "data", 0)};
  operation.bytes = static_cast<std::int64_t>(number_or(json, "bytes", 0));
  operation.priority = static_cast<std::int64_t>(number_or(json, "priority", 0));
  operation.entry = *kEntries.find(text_or(json, "entry", "together"));
  return operation;
}

inline Program program_of(const io::Json& json) {
  ProgramDraft draft;
  std::map<std::string, std::uint32_t> streams;
  for (const auto& [name, stream] : json.find("streams")->as_object()) {
    const Discipline discipline = *kDisciplines.find(stream.find("discipline")->as_string());
    Stream made{.name = name, .discipline = discipline};
    made.credit_bytes = static_cast<std::int64_t>(number_or(stream, "credit_bytes", 1));
    made.concurrency = static_cast<std::int32_t>(number_or(stream, "concurrency", 1));
    made.contention = number_or(stream, "contention", 0);
    streams[name] = draft.stream(made);
  }
  std::map<std::string, std::uint32_t> ids;
  for (const io::Json& operation : json.find("ops")->as_array()) {
    ids[operation.find("id")->as_string()] =
        draft.add(operation_of(operation, streams.at(operation.find("stream")->as_string())));
  }
  for (const io::Json& operation : json.find("ops")->as_array()) {
    for (const io::Json& wait : operation.find("waits")->as_array()) {
      const io::Array& parts = wait.as_array();
      draft.wait(ids.at(operation.find("id")->as_string()), ids.at(parts[0].as_string()),
                 static_cast<std::int32_t>(parts[1].as_integer()),
                 parts.size() > 2 ? Scope::all : Scope::own);
    }
  }
  draft.settings().ranks = static_cast<std::uint32_t>(json.find("ranks")->as_integer());
  draft.settings().interference = interference_of(*json.find("interference"));
  return draft.finish(ids.at(json.find("marker")->as_string()));
}

// [rank][iteration] in the file, [iteration * ranks + rank] in ours.
inline Factors factors_of(const io::Json& instance) {
  Factors factors;
  if (const io::Json* compute = instance.find("compute_factor")) {
    const std::vector<double> table = numbers(*compute);
    const std::size_t ranks = compute->as_array().size();
    const std::size_t iterations = table.size() / ranks;
    for (std::size_t i = 0; i < table.size(); ++i) {
      factors.compute.push_back(table[i % ranks * iterations + i / ranks]);
    }
  }
  if (const io::Json* exchange = instance.find("exchange_factor")) {
    factors.exchange = numbers(*exchange);
  }
  return factors;
}

// Entry `each` by a ring over equal links: the step s of a message reaches the next rank one part
// of the exchange after both have the step before (COL 3).
inline void ring_of_equal_steps(const Operation& exchange, double factor,
                                std::span<const double> enter, std::span<double> leave) {
  const std::size_t ranks = enter.size();
  const std::size_t steps = (exchange.kind == Kind::allreduce ? 2 : 1) * (ranks - 1);
  std::vector<double> now(enter.begin(), enter.end());
  for (std::size_t s = 0; s < steps; ++s) {
    std::vector<double> next(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      next[r] = std::max(now[r], now[(r + ranks - 1) % ranks]) +
                factor * exchange.duration_s() / static_cast<double>(steps);
    }
    now = next;
  }
  std::copy(now.begin(), now.end(), leave.begin());
}

} // namespace stepsim::programs
