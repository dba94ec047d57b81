#include "run/verdict.hpp"

#include <algorithm>
#include <array>

namespace stepsim::study {

namespace {

struct Subject {
  std::string_view word, subject;
};
constexpr std::array kSubjects{Subject{"compute", "Computing"},
                               Subject{"latency", "The start-up of messages"},
                               Subject{"bandwidth", "The bandwidth of the links"},
                               Subject{"reduction", "Adding gradients"},
                               Subject{"straggler", "The slowest worker"},
                               Subject{"compression", "Compression"},
                               Subject{"input", "Waiting, such as for batches to be read,"},
                               Subject{"server", "The parameter server"}};

} // namespace

std::string largest_of(const ExchangeShares& parts) {
  struct Part {
    double seconds;
    const char* word;
  };
  const std::array all{Part{parts.latency_s, "latency"}, Part{parts.bandwidth_s, "bandwidth"},
                       Part{parts.reduction_s, "reduction"},
                       Part{parts.compression_s, "compression"}};
  return std::ranges::max_element(all, {}, &Part::seconds)->word;
}

std::string_view subject_of(std::string_view bottleneck) {
  const auto* found = std::ranges::find(kSubjects, bottleneck, &Subject::word);
  return found == kSubjects.end() ? std::string_view() : found->subject;
}

} // namespace stepsim::study
