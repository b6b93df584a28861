// Calls the daemon on the session bus for `seconds`, about `rate` times a second, with whatever a
// program may: members that it has and has not, values that are extreme or of other types, huge
// texts and lists, descriptors, and callers that vanish or never read an answer. Leaves out what
// would stop the stream or change privacy. Prints the number of calls. Returns the exit status.
int attack_with_calls(double seconds, int rate);
