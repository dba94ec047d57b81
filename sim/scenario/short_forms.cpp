#include "scenario/short_forms.hpp"

#include <algorithm>
#include <array>

#include "document/json_text.hpp"

namespace stepsim::study {

namespace {

struct ShortForm {
  std::string_view pointer;
  std::string_view key; // of the object that a word stands for
};
// Of scenarios and of lists of flows.
constexpr std::array kShortForms{ShortForm{"/communication/compression", "method"},
                                 ShortForm{"/conditions", "kind"},
                                 ShortForm{"/communication/library", "name"},
                                 ShortForm{"/training/sharding", "strategy"},
                                 ShortForm{"/training/sharding/parameter_compression", "method"},
                                 ShortForm{"/training/outer_compression", "method"},
                                 ShortForm{"/cluster/topology", "file"},
                                 ShortForm{"/cluster/network", "calibration"},
                                 ShortForm{"/cluster/intra_network", "calibration"},
                                 ShortForm{"/cluster/network/packet/transport", "kind"},
                                 ShortForm{"/topology", "file"},
                                 ShortForm{"/network/packet/transport", "kind"}};

// {"name": "mine", "caps": [1, 25]}: its members become keys next to `schedule`. Any other object
// stays, and is a problem when it is read.
void expand_schedule(io::Json& scenario) {
  struct Member {
    std::string_view key, of_communication;
    bool is_schedule;
  };
  constexpr std::array kMembers{Member{"name", "schedule_name", false},
                                Member{"caps", "caps_mib", true}, Member{"groups", "groups", true}};
  const io::Json* found = io::resolve(scenario, "/communication/schedule");
  if (found == nullptr || !found->is_object()) {
    return;
  }
  const io::Json given = *found;
  std::string_view schedule;
  for (const auto& [key, value] : given.as_object()) {
    const auto member = std::ranges::find(kMembers, std::string_view(key), &Member::key);
    if (member == kMembers.end() || (member->is_schedule && !schedule.empty())) {
      return;
    }
    schedule = member->is_schedule ? member->key : schedule;
  }
  if (schedule.empty()) {
    return;
  }
  io::Json word{std::string(schedule)};
  word.set_origin(given.file_pointer(), "/communication/schedule", given.line());
  io::assign(scenario, "/communication/schedule", std::move(word));
  for (const auto& [key, of_communication, _] : kMembers) {
    if (const io::Json* value = given.find(key)) {
      io::assign(scenario, "/communication/" + std::string(of_communication), *value);
    }
  }
}

} // namespace

std::optional<std::string_view> short_form_key(std::string_view pointer) {
  const auto form = std::ranges::find(kShortForms, pointer, &ShortForm::pointer);
  return form == kShortForms.end() ? std::nullopt : std::optional(form->key);
}

bool may_hold_short_form(std::string_view pointer) {
  return pointer.starts_with("/communication/schedule") ||
         std::ranges::any_of(
             kShortForms, [&](const ShortForm& form) { return form.pointer.starts_with(pointer); });
}

// The new object takes the place of the word, and the word keeps its own file and line: an error in
// it must point at what the user wrote.
io::Json with_short_forms_expanded(io::Json scenario) {
  for (const ShortForm& form : kShortForms) {
    const io::Json* found = io::resolve(scenario, form.pointer);
    if (found == nullptr || !found->is_string()) {
      continue;
    }
    const io::Json word = *found;
    io::Json object{io::Object{{std::string(form.key), word}}};
    object.set_origin(word.file_pointer(), std::string(form.pointer), word.line());
    io::Json& placed = io::assign(scenario, form.pointer, std::move(object));
    // The word keeps its place for messages, "/cluster/network" as the user wrote it; it may come
    // from another file than the scenario.
    placed.find(form.key)->set_origin(word.file_pointer(), std::string(form.pointer), word.line());
  }
  expand_schedule(scenario);
  return scenario;
}

} // namespace stepsim::study
