#include "scenario/keys/schedule_keys.hpp"

#include "buckets/planners.hpp"

namespace stepsim::study::keys {

// The words of all planners, in the order of their table: a planner that is added there is a word
// here.
std::vector<std::string_view> schedules() {
  std::vector<std::string_view> words;
  for (const buckets::Planner& planner : buckets::planners()) {
    words.push_back(planner.name);
  }
  return words;
}

} // namespace stepsim::study::keys
