export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2f5fd0"/><path d="M11 8v16M21 8v16M11 16h10" stroke="#fff" stroke-width="3.4" stroke-linecap="round"/></svg>
`;
