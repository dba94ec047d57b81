#include "import/kineto/kineto_event_file.hpp"

#include <algorithm>
#include <cerrno>
#include <type_traits>

#include "base/error.hpp"
#include "document/file.hpp"

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

} // namespace stepsim::io
