#include "import/kineto/kineto_keys.hpp"

#include <array>

#include "import/kineto/word_table.hpp"

namespace stepsim::io {

namespace {

constexpr WordTable kFileKeys(std::array{WordRow{"traceEvents", KinetoKey::trace_events},
                                         WordRow{"deviceProperties", KinetoKey::device_properties},
                                         WordRow{"distributedInfo", KinetoKey::distributed_info},
                                         WordRow{"record_shapes", KinetoKey::record_shapes}});
constexpr WordTable kEventKeys(std::array{
    WordRow{"ph", KinetoKey::ph}, WordRow{"cat", KinetoKey::cat}, WordRow{"name", KinetoKey::name},
    WordRow{"pid", KinetoKey::pid}, WordRow{"tid", KinetoKey::tid}, WordRow{"ts", KinetoKey::ts},
    WordRow{"dur", KinetoKey::dur}, WordRow{"args", KinetoKey::args}});
constexpr WordTable kArgumentKeys(std::array{
    WordRow{"External id", KinetoKey::external_id}, WordRow{"correlation", KinetoKey::correlation},
    WordRow{"Sequence number", KinetoKey::sequence}, WordRow{"Input Dims", KinetoKey::input_dims},
    WordRow{"Input dims", KinetoKey::input_dims}, // until 2021
    WordRow{"Input type", KinetoKey::input_type}, WordRow{"Collective name", KinetoKey::collective},
    WordRow{"In msg nelems", KinetoKey::elements},
    WordRow{"Out msg nelems", KinetoKey::out_elements},
    WordRow{"Process Group Name", KinetoKey::group}, WordRow{"Group size", KinetoKey::group_size},
    WordRow{"dtype", KinetoKey::dtype}});

KinetoKey or_other(const KinetoKey* key) { return key == nullptr ? KinetoKey::other : *key; }

} // namespace

KinetoKey file_key(std::string_view name) { return or_other(kFileKeys.find(name)); }
KinetoKey event_key(std::string_view name) { return or_other(kEventKeys.find(name)); }
KinetoKey argument_key(std::string_view name) { return or_other(kArgumentKeys.find(name)); }

} // namespace stepsim::io
