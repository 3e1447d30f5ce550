// One classic script without imports, so that the page can hold it inline.
import { defineConfig } from "vite";

export default defineConfig({
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  build: {
    target: "es2022",
    lib: { entry: "src/page.ts", formats: ["iife"], name: "parbench", fileName: () => "page.js" },
    copyPublicDir: false,
  },
});
