export const configPage = () => '# Configuration\n'
