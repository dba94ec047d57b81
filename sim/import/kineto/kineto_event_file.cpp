#include "import/kineto/kineto_event_file.hpp"

#include <algorithm>
#include <cerrno>
#include <type_traits>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

static_assert(std::is_trivially_copyable_v<KinetoEvent>, "written as its bytes");

[[noreturn]] void fail(const char* what) {
  throw SimulationError(std::string("a temporary file cannot be ") + what + ": " +
                        reason_text(errno));
}

} // namespace

KinetoEventFile::KinetoEventFile() : file_(std::tmpfile()) {
  if (!file_ || std::setvbuf(file_.get(), nullptr, _IONBF, 0) != 0) {
    fail("made");
  }
  last_.reserve(kTogether);
}

void KinetoEventFile::write() {
  if (std::fwrite(last_.data(), sizeof(KinetoEvent), last_.size(), file_.get()) != last_.size()) {
    fail("written");
  }
  last_.clear();
}

void KinetoEventFile::each(const std::function<void(const KinetoEvent&)>& visit) {
  write();
  std::rewind(file_.get());
  std::vector<KinetoEvent> events(kTogether);
  for (std::size_t left = size_; left > 0;) {
    const std::size_t count = std::min(left, kTogether);
    if (std::fread(events.data(), sizeof(KinetoEvent), count, file_.get()) != count) {
      fail("read");
    }
    for (std::size_t i = 0; i < count; ++i) {
      visit(events[i]);
    }
    left -= count;
  }
  (void)std::fseek(file_.get(), 0, SEEK_END);
}

// Decimal digits are counted as text: 1700000000123456.789 microseconds have more digits than a
// double keeps.

std::optional<Nanoseconds> nanoseconds_from_microseconds(std::string_view literal) {
  const std::size_t e = std::min(literal.find_first_of("eE"), literal.size());
  std::ptrdiff_t exponent = 3; // microseconds to nanoseconds
  if (e < literal.size()) {
    std::string_view power = literal.substr(e + 1);
    power.remove_prefix(power.starts_with('+') ? 1 : 0);
    const auto written = parse_number<int>(power);
    if (!written || *written > 1000 || *written < -1000) {
      return std::nullopt;
    }
    exponent += *written;
  }
  std::string digits(literal.substr(0, e));
  const std::size_t point = std::min(digits.find('.'), digits.size());
  digits.erase(point, 1);
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) {
    return std::nullopt;
  }
  // Digits before the nanosecond point are kept, the first one behind it rounds.
  const std::ptrdiff_t kept = static_cast<std::ptrdiff_t>(point) + exponent;
  const bool rounds =
      kept >= 0 && kept < std::ssize(digits) && digits[static_cast<std::size_t>(kept)] >= '5';
  digits.resize(static_cast<std::size_t>(std::max<std::ptrdiff_t>(kept, 0)), '0');
  const auto value = parse_whole("0" + digits);
  return value && rounds && *value == std::numeric_limits<Nanoseconds>::max() ? std::nullopt
         : value ? std::optional(*value + (rounds ? 1 : 0))
                 : std::nullopt;
}

Nanoseconds median_time(std::vector<Nanoseconds> times) {
  std::ranges::sort(times);
  const std::size_t n = times.size();
  return n % 2 == 1 ? times[n / 2] : times[n / 2 - 1] + (times[n / 2] - times[n / 2 - 1]) / 2;
}

} // namespace stepsim::io
