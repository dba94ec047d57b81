// The queues that the models use, compiled once here, so that the header is known to compile for
// both.
#include "events/event_queue.hpp"
#include "events/timeline.hpp"

namespace stepsim::events {

template class EventQueue<double>;       // continuous models: seconds
template class EventQueue<std::int64_t>; // packet model: picoseconds

} // namespace stepsim::events
