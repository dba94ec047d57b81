#include "import/kineto/kineto_keys.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace stepsim::io {

namespace {

struct KeyName {
  std::string_view text;
  KinetoKey key;
};

// The rows by length: few keys have the same, and their first letters differ.
//     length    0  1  2  3  4 ..
//     begin_    0  0  0  2  5 ..    rows of two letters are at 0 and 1
template <std::size_t N> class KeyTable {
public:
  constexpr explicit KeyTable(std::array<KeyName, N> rows) : rows_(rows) {
    std::ranges::sort(rows_, {}, [](const KeyName& row) { return row.text.size(); });
    if (rows_.back().text.size() > kLongest) {
      throw "a key is longer than kLongest"; // the compiler stops here
    }
    for (std::size_t length = 0, row = 0; length < begin_.size(); ++length) {
      while (row < N && rows_[row].text.size() < length) {
        ++row;
      }
      begin_[length] = row;
    }
  }

  [[nodiscard]] KinetoKey find(std::string_view text) const {
    if (text.empty() || text.size() > kLongest) {
      return KinetoKey::other;
    }
    for (std::size_t row = begin_[text.size()]; row < begin_[text.size() + 1]; ++row) {
      if (rows_[row].text.front() == text.front() && rows_[row].text == text) {
        return rows_[row].key;
      }
    }
    return KinetoKey::other;
  }

private:
  static constexpr std::size_t kLongest = 18;
  std::array<KeyName, N> rows_;
  std::array<std::size_t, kLongest + 2> begin_{}; // [length]: first row that is so long
};

constexpr KeyTable kFileKeys(std::array{KeyName{"traceEvents", KinetoKey::trace_events},
                                        KeyName{"deviceProperties", KinetoKey::device_properties},
                                        KeyName{"distributedInfo", KinetoKey::distributed_info},
                                        KeyName{"record_shapes", KinetoKey::record_shapes}});
constexpr KeyTable kEventKeys(std::array{
    KeyName{"ph", KinetoKey::ph}, KeyName{"cat", KinetoKey::cat}, KeyName{"name", KinetoKey::name},
    KeyName{"pid", KinetoKey::pid}, KeyName{"tid", KinetoKey::tid}, KeyName{"ts", KinetoKey::ts},
    KeyName{"dur", KinetoKey::dur}, KeyName{"args", KinetoKey::args}});
constexpr KeyTable kArgumentKeys(std::array{
    KeyName{"External id", KinetoKey::external_id}, KeyName{"correlation", KinetoKey::correlation},
    KeyName{"Sequence number", KinetoKey::sequence}, KeyName{"Input Dims", KinetoKey::input_dims},
    KeyName{"Input dims", KinetoKey::input_dims}, // until 2021
    KeyName{"Input type", KinetoKey::input_type}, KeyName{"Collective name", KinetoKey::collective},
    KeyName{"In msg nelems", KinetoKey::elements},
    KeyName{"Out msg nelems", KinetoKey::out_elements},
    KeyName{"Process Group Name", KinetoKey::group}, KeyName{"Group size", KinetoKey::group_size},
    KeyName{"dtype", KinetoKey::dtype}});

} // namespace

KinetoKey file_key(std::string_view name) { return kFileKeys.find(name); }
KinetoKey event_key(std::string_view name) { return kEventKeys.find(name); }
KinetoKey argument_key(std::string_view name) { return kArgumentKeys.find(name); }

} // namespace stepsim::io
