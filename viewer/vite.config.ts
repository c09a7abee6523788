// Builds dist/viewer.html: one file with all script and style inside, so that it works from a server, from memory and from disk.
import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** Moves every script and style sheet of the bundle into the page. */
function inline(): Plugin {
  return {
    name: "osier-inline",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const page of Object.values(bundle)) {
        if (page.type !== "asset" || !page.fileName.endsWith(".html")) continue;
        let html = String(page.source);
        for (const [name, part] of Object.entries(bundle)) {
          if (part === page) continue;
          const base = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
          // Functions as replacements: minified code is full of `$`. A closing tag inside a string would end the script early.
          if (part.type === "chunk") {
            html = html.replace(new RegExp(`<script[^>]*src="[^"]*${base}"[^>]*></script>`), "");
            html = html.replace("</body>", () => `<script type="module">${part.code.replaceAll("</script", "<\\/script")}</script>\n</body>`);
          } else {
            html = html.replace(new RegExp(`<link[^>]*href="[^"]*${base}"[^>]*>`), () => `<style>${String(part.source)}</style>`);
          }
          delete bundle[name];
        }
        page.source = html;
      }
    },
  };
}

export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 100_000_000,
    chunkSizeWarningLimit: 2000,
    rollupOptions: { input: resolve(__dirname, "viewer.html"), output: { inlineDynamicImports: true } },
  },
  plugins: [inline()],
});
