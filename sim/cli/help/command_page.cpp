#include "cli/help/command_page.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace stepsim::cli {

CommandPage page_of(const CLI::App& app, const CommandText& text) {
  CommandPage page{text, {}, app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    OptionText each;
    each.sentence = option->get_description();
    each.group = option->get_group();
    each.is_argument = option->get_positional();
    if (each.is_argument) {
      each.names = {option->get_name(true)};
      each.is_list = option->get_items_expected_max() > 1;
    } else {
      for (const std::string& name : option->get_snames()) {
        each.names.push_back("-" + name);
      }
      for (const std::string& name : option->get_lnames()) {
        each.names.push_back("--" + name);
      }
      each.value = option->get_items_expected_max() > 0 ? option->get_type_name() : "";
    }
    page.options.push_back(std::move(each));
  }
  return page;
}

const OptionText* find_option(const CommandPage& page, std::string_view name) {
  const auto found = std::ranges::find_if(page.options, [&](const OptionText& option) {
    return !option.is_argument && std::ranges::find(option.names, name) != option.names.end();
  });
  return found == page.options.end() ? nullptr : &*found;
}

std::vector<std::string> groups_of(const CommandPage& page) {
  std::vector<std::string> groups;
  for (const OptionText& option : page.options) {
    if (std::ranges::find(groups, option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::ranges::stable_partition(groups, [](const auto& group) { return group != kOutputGroup; });
  return groups;
}

} // namespace stepsim::cli
