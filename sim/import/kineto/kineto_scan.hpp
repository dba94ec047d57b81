#pragma once
// The quick way through the events of a profiler trace: one event of the usual form is read from
// memory in one pass. Unusual events (escapes in names, letters beyond ASCII, numbers with an
// exponent, a time that is not a number, a syntax error) are left to the general parser
// (kineto_sax.hpp), which also writes all errors about a file.
#include "import/kineto/kineto_collect.hpp"

namespace stepsim::io {

// Reads the object that begins at `begin`, a brace, into `event`, which is cleared before, and
// gives its end. Null where the object is not complete before `end` or not of the usual form;
// `event` then holds anything.
[[nodiscard]] const char* scan_event(const char* begin, const char* end, RawEvent& event);

} // namespace stepsim::io
