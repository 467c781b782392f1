// What dist/ publishes, as the compiler and an editor see it. One file of tests, because the types
// of node and of ours take the compiler seconds to read, in each process anew.
import './as-written.ts'
import './completion.ts'
import './documents.ts'
import './examples.ts'
import './names.ts'
import './published.ts'
