import { chromium } from 'playwright-core'
const [, , origin = '', id = '', out = ''] = process.argv
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
const pages: Record<string, string> = { builds: '/', failed: `/invocation/${id}`, timing: `/invocation/${id}/timing`, tests: `/invocation/${id}/tests`, cache: `/invocation/${id}/cache`, queue: '/queue', trends: '/trends', history: '/tests' }
const only = process.argv[5]?.split(',')
for (const scheme of ['light', 'dark'] as const)
  for (const width of [1280, 400]) {
    const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 900 } })
    const page = await context.newPage()
    for (const [name, path] of Object.entries(pages)) {
      if (only && !only.includes(name)) continue
      if (scheme === 'dark' && !['failed','builds'].includes(name)) continue
      await page.goto(origin + path)
      await page.screenshot({ path: `${out}/${name}-${scheme[0]}${width}.png` })
      if (scheme === 'light' && width === 1280) await page.screenshot({ path: `${out}/${name}-full.png`, fullPage: true })
    }
    if (scheme==='light'){ await page.goto(origin + `/invocation/${id}`); const a = await page.locator('article a').filter({ hasText: 'The action' }).first(); if (await a.count()) { await a.click(); await page.screenshot({ path: `${out}/action-l${width}.png` }); if (width===1280) await page.screenshot({ path: `${out}/action-full.png`, fullPage: true }) } }
    await context.close()
  }
await browser.close()
