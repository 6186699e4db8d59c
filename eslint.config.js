/* What `make lint` says about the page's modules; tsc finds names that do not exist. */

import js from "@eslint/js";

export default [
  { ignores: ["**/vendor/", "**/snapshot.js", "build/", "dist/", ".*/"] },
  js.configs.recommended,
  {
    rules: {
      "no-undef": "off",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-nested-ternary": "error",
      "no-multi-assign": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Write text as children." },
        { property: "outerHTML", message: "Write text as children." },
        { property: "insertAdjacentHTML", message: "Write text as children." },
      ],
      "eqeqeq": "error",
      "prefer-const": "error",
      "no-var": "error",
      "max-lines-per-function": ["error", { max: 60, skipComments: true, skipBlankLines: true }],
    },
  },
];
