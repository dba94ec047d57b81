#include "study/trace_study.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "scenario/files/node_file.hpp"

namespace stepsim::study {

namespace {

// "NVIDIA A100-SXM4-80GB" -> NVIDIA, A100, SXM4, 80GB; capital letters.
std::vector<std::string> words_of_name(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

bool has_digit(const std::string& word) {
  return std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

// The part's name, "A100" of "NVIDIA A100 SXM4": the first word with a letter and a digit, else the
// first number of four digits, "4090" of "NVIDIA GeForce RTX 4090"; and whether it is a card for a
// slot, whose links are others.
struct PartName {
  std::string part;
  bool in_slot = false;
};
PartName part_name(std::string_view name) {
  const std::vector<std::string> words = words_of_name(name);
  auto part = std::ranges::find_if(words, [](const std::string& word) {
    return word.size() > 1 && std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
           has_digit(word);
  });
  if (part == words.end()) {
    part = std::ranges::find_if(words, [](const std::string& word) {
      return word.size() == 4 && std::ranges::all_of(word, [](char c) {
               return std::isdigit(static_cast<unsigned char>(c)) != 0;
             });
    });
  }
  return {part == words.end() ? "" : *part,
          std::ranges::find(words, std::string("PCIE")) != words.end()};
}

} // namespace

std::vector<std::string> node_types_of_gpu(const std::string& device, Files& files) {
  const PartName wanted = part_name(device);
  std::vector<std::string> types;
  for (const auto& [name, path] : io::shipped_node_presets(files.data_folder())) {
    const PartName has = part_name(files.node(io::Json(name)).gpu);
    if (!has.part.empty() && wanted.part.starts_with(has.part) && wanted.in_slot == has.in_slot) {
      types.push_back(name);
    }
  }
  std::ranges::stable_partition(types, [](const std::string& name) {
    return name.starts_with("dgx") || name.starts_with("hgx");
  });
  return types;
}

std::optional<TraceMachine> machine_of(const layers::Trace& trace, const std::string& node_type,
                                       Files& files) {
  TraceMachine machine{.node_type = node_type, .others = {}};
  if (node_type.empty()) {
    machine.others = node_types_of_gpu(trace.device.value_or(""), files);
    if (machine.others.empty()) {
      return std::nullopt;
    }
    machine.node_type = machine.others.front();
    machine.others.erase(machine.others.begin());
  }
  const std::int64_t ranks = trace.ranks.value_or(1);
  const std::int64_t most = files.node(io::Json(machine.node_type)).node.gpus;
  machine.gpus_per_node = std::min(ranks, most);
  machine.nodes = ranks / machine.gpus_per_node;
  return machine.gpus() == ranks ? std::optional(std::move(machine)) : std::nullopt;
}

} // namespace stepsim::study
