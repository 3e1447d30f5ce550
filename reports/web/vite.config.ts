// Classic scripts without imports: a page by itself holds one inline, and a browser loads one from
// disk for a site. `--mode` names the entry.
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
