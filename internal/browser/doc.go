// Package browser tests pages (package page) in a real Chromium. It has nothing but tests.
package browser
