// Builds classic scripts without imports: a single page contains its script inline, and browsers
// load the script of a site from disk. `--mode` is the name of the entry.
import { defineConfig } from "vite";

export default defineConfig(({ mode }) => ({
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  build: {
    target: "es2022",
    lib: { entry: `src/${mode}.ts`, formats: ["iife"], name: "parbench", fileName: () => `${mode}.js` },
    copyPublicDir: false,
    emptyOutDir: false,
  },
}));
