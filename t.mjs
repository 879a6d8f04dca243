const u=process.argv[2]; 
try { const r=await fetch(u+'/v1beta/models/gemini-3.5-flash-lite:generateContent',{method:'POST',headers:{'x-goog-api-key':'sim-key-0123456789','content-type':'application/json'},body:JSON.stringify({contents:[{role:'user',parts:[{text:'hi'}]}]})}); console.log(r.status, await r.text()); } catch(e){ console.log(e, e.cause) }
