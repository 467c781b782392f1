//go:build tools

// Names what scripts/h2spec.mjs builds; go.mod and go.sum pin it.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2spec"
